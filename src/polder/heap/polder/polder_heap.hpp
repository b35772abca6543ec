#pragma once
// polder_heap — the flagship: its fast paths, and how a thread comes to its LAB.
//
//   paper      docs/design/0001-the-flagship-heap.md
//   progress   lock-free; the fast paths are wait-free
//   in malloc  yes. In a signal handler: yes, also when it interrupted malloc or free
//
// Where a thread stands, as the word here() tells:
//
//             first operation                        a claimer came (give_way)
//    nobody ───────────────────▶ its own LAB, outside ◀───────────────────────┐
//      ▲                            │        ▲                                 │
//      │ leave_thread          enter│        │exit                             │
//      └────────────────────────────┤        │                                 │
//                                   ▼        │                                 │
//                                 its own LAB, inside ─────────────────────────┘
//                                   a signal handler that finds it inside borrows another LAB for one operation
//
// All-zero memory is a heap that has not begun: it makes itself in the first slow path.
#include <cstddef>
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/heap/info.hpp>
#include <polder/heap/polder/core.hpp>
#include <polder/heap/polder/remote_free.hpp>
#include <polder/os/futex.hpp>
#include <polder/sync/install_once.hpp>

namespace polder::heap {

// Host: what lies above the heap (malloc/, or a test).
//   static Lab*& current_lab<Lab>()       the calling thread's word; &nobody<Lab> at first
//   static Lab nobody<Lab>                an all-zero LAB: a closed door, the same for all threads
//   static bool may_settle()              false once the calling thread's exit is behind it
//   static const options& configured()    asked once
//   static bool watch_thread_exit()       leave_thread() will be called when this thread ends; false: it will not
//   static void installed()               called once, when the heap stands
//   static void about_to_borrow(Lab&)     tests only: a LAB is about to be borrowed, and the thread not yet inside
template <class Host>
class polder_heap {
 public:
  using lab_type = lab;
  static constexpr heap_info info{
      .name = "polder",
      .title = "Polder",
      .paper = "this project, after scalloc, LRMalloc, Michael and SuperMalloc",
      .year = 2026,
      .summary =
          "Spans of 64 KiB in one arena, a table instead of headers, claimable thread buffers, remote frees in "
          "batches by owner, one lock-free pool of grains.",
      .progress = "lock-free"};

  constexpr polder_heap() noexcept = default;
  polder_heap(const polder_heap&) = delete;
  polder_heap& operator=(const polder_heap&) = delete;

  // ---- fast paths -------------------------------------------------------------------------------------------------

  // `missed(n, inside)` is what the caller does when the fast path does not serve: it must call allocate_missed with the
  // same arguments, whatever else it does, and may be a tail call. Hence malloc keeps no frame.
  template <auto missed>
  POLDER_ALWAYS_INLINE void* allocate_or(std::size_t n) {
    return allocate_with(n,
                         [](std::size_t size, bool inside) { return pop_beyond_direct_or<missed>(size, inside); });
  }
  template <class Missed>
  POLDER_ALWAYS_INLINE void* allocate_with(std::size_t n, Missed missed) {
    return take(
        n, n, [](mem::block* b) { return static_cast<void*>(b); }, missed);
  }

  // What is served here is at most lab::direct_limit: clearing it costs less than finding out that it is clear.
  template <auto missed>
  POLDER_ALWAYS_INLINE void* allocate_zeroed_or(std::size_t n) {
    return take(
        n, n, [n](mem::block* b) { return __builtin_memset(b, 0, n); },
        [](std::size_t size, bool inside) { return missed(size, inside); });
  }

  // inside: announced, but not served: the door is closed, the size is beyond the fast path, the span is out of blocks,
  // or its first free block was written to. Otherwise the thread was inside already, or has no LAB.
  POLDER_NOINLINE void* allocate_missed(std::size_t n, bool inside) noexcept {
    return missed_by([n](core& c, lab& l) { return c.allocate(l, n); }, inside);
  }
  // Of what lies on a span's list nobody knows whether it is clear.
  POLDER_NOINLINE void* allocate_zeroed_missed(std::size_t n, bool inside) noexcept {
    if (void* const b = pop_beyond_direct(n, inside)) return __builtin_memset(b, 0, any_number(n));
    return missed_by([n](core& c, lab& l) { return c.allocate_zeroed(l, n); }, inside);
  }

  void* allocate(std::size_t n) noexcept {
    return allocate_with_lab([&](core& c, lab& l) { return c.allocate(l, n); });
  }

  POLDER_ALWAYS_INLINE void deallocate(void* p) noexcept { deallocate_as(p, any_size{}); }

  // n: what was asked for it. Does not return if that cannot be (core::check_size).
  POLDER_ALWAYS_INLINE void deallocate_sized(void* p, std::size_t n) noexcept { deallocate_as(p, of_size{n}); }

  // A small block stays where it is while its class suits, or moves by the fast paths. All else, and whatever looks like
  // a mistake, is the slow path's. A live block's grain keeps its class, whoever owns it meanwhile.
  void* reallocate(void* p, std::size_t n) noexcept {
    if (const unsigned c = n <= mem::size_class::stepped::largest ? class_here(p) : 0) [[likely]] {
      if (classes::keeps(c, n)) return p;
      const std::size_t had = classes::block_size[c];
      void* const q = take(
          with_room(had, n), n, [](mem::block* b) { return static_cast<void*>(b); },
          [this, n](std::size_t size, bool inside) { return allocate_with_room(size, n, inside); });
      if (q == nullptr) [[unlikely]]
        return reallocate_slowly(p, n);
      __builtin_memcpy(q, p, any_number(n < had ? n : had));
      deallocate(p);
      return q;
    }
    return reallocate_slowly(p, n);
  }
  // As core::allocate_with_room.
  POLDER_NOINLINE void* allocate_with_room(std::size_t room, std::size_t n, bool inside) noexcept {
    if (void* const b = pop_beyond_direct(room, inside)) return b;
    return allocate_with_room_missed(room, n, inside);
  }
  POLDER_NOINLINE void* allocate_with_room_missed(std::size_t room, std::size_t n, bool inside) noexcept {
    return missed_by([=](core& c, lab& l) { return c.allocate_with_room(l, room, n); }, inside);
  }
  POLDER_NOINLINE void* reallocate_slowly(void* p, std::size_t n) noexcept {
    if (void *const q = allocate_with_lab([=](core& c, lab& own) { return c.reallocate(own, p, n); })) return q;
    core* const c = core_.load(order::acquire);  // sync: installed
    return c ? c->stay_though_small(p, n) : nullptr;
  }

  // ---- the rest ----------------------------------------------------------------------------------------------------

  void* allocate_zeroed(std::size_t n) noexcept {
    return allocate_with_lab([&](core& c, lab& l) { return c.allocate_zeroed(l, n); });
  }
  // alignment: a power of two. The class of a multiple of it has a block size that is one, too (class_table::aligned).
  void* allocate_aligned(std::size_t alignment, std::size_t n) noexcept {
    if (alignment <= lab::direct_limit && n <= lab::direct_limit) [[likely]]
      return allocate_with(align_up(n == 0 ? 1 : n, alignment), [=, this](std::size_t, bool inside) {
        return allocate_aligned_missed(alignment, n, inside);
      });
    return allocate_aligned_beyond_direct(alignment, n);
  }
  // The class of the size alone is mostly a multiple of the alignment, too.
  POLDER_NOINLINE void* allocate_aligned_beyond_direct(std::size_t alignment, std::size_t n) noexcept {
    const std::size_t whole = n < alignment ? alignment : n;
    if (whole <= mem::size_class::stepped::largest &&
        is_aligned(classes::block_size[lab::class_beyond_direct(whole)], alignment)) [[likely]]
      return allocate_with(whole, [=, this](std::size_t size, bool inside) {
        void* const b = pop_beyond_direct(size, inside);
        return b ? b : allocate_aligned_missed(alignment, n, inside);
      });
    return allocate_aligned_missed(alignment, n, false);
  }
  POLDER_NOINLINE void* allocate_aligned_missed(std::size_t alignment, std::size_t n, bool inside) noexcept {
    return missed_by([=](core& c, lab& l) { return c.allocate_aligned(l, alignment, n); }, inside);
  }
  // The same for a block of which the alignment was asked.
  void deallocate_aligned_sized(void* p, std::size_t alignment, std::size_t n) noexcept {
    const unsigned cls = class_here(p);
    if (cls == 0 || !classes::keeps(cls, n) || !is_aligned(address(p), alignment)) [[unlikely]]
      check_aligned_size(p, alignment, n);
    deallocate(p);
  }
  POLDER_NOINLINE void check_aligned_size(void* p, std::size_t alignment, std::size_t n) const noexcept {
    if (core* const c = core_.load(order::acquire)) c->check_aligned_size(p, alignment, n);  // sync: installed
  }
  std::size_t usable_size(const void* p) const noexcept {
    if (const unsigned c = class_here(p)) [[likely]]
      return classes::block_size[c];
    core* const c = core_.load(order::acquire);  // sync: installed
    return c ? c->usable_size(p) : 0;
  }
  bool owns(const void* p) const noexcept {
    core* const c = core_.load(order::acquire);  // sync: installed
    return c && c->owns(p);
  }
  std::size_t allocate_batch(std::size_t n, std::size_t count, void** out) noexcept {
    std::size_t had = 0;
    allocate_with_lab([&](core& c, lab& l) {
      while (had < count && (out[had] = c.allocate(l, n)) != nullptr) ++had;
      return had == count ? static_cast<void*>(out) : nullptr;
    });
    return had;
  }
  void deallocate_batch(void** blocks, std::size_t count) noexcept {
    if (lab* const l = come_in(effort::little)) {
      core& c = *core_.load(order::relaxed);
      constexpr std::size_t ahead = 8;  // blocks that were retired long ago are in no cache
      for (std::size_t i = 0; i < count; ++i) {
        if (count - i > ahead) __builtin_prefetch(blocks[i + ahead], 1);
        if (!put_back(c, *l, blocks[i]) && blocks[i]) c.deallocate(*l, blocks[i]);
      }
      l->door.exit();
    } else {
      for (std::size_t i = 0; i < count; ++i) deallocate(blocks[i]);
    }
  }
  // Everything at once: the pools hold nothing back, so `keep_bytes` is not looked at.
  std::size_t trim(std::size_t) noexcept {
    std::size_t bytes = 0;
    with_lab_or_none(effort::little, [&](core& c, lab* l) { bytes = c.trim(l); });
    return bytes;
  }
  static constexpr unsigned size_classes = classes::count;
  statistics read_statistics(class_statistics* of_classes = nullptr) const noexcept {
    core* const c = core_.load(order::acquire);  // sync: installed
    return c ? c->read_statistics(of_classes) : statistics{};
  }
  std::uint32_t read_labs(mem::lab_number first, std::span<lab_statistics> into) const noexcept {
    core* const c = core_.load(order::acquire);  // sync: installed
    return c ? c->read_labs(first, into) : 0;
  }
  // In a handler of SIGSEGV: true if the fault was in a guarded block's pages, of which one line has told then.
  bool explain_fault(const void* address) const noexcept {
    core* const c = core_.load(order::acquire);  // sync: installed
    return c && c->explain_fault(address);
  }
  modes read_modes() noexcept {
    core* const c = shared();
    return c ? c->read_modes() : modes{};
  }

  // ---- how much it may hold (core.hpp). False: there is no heap
  bool set_limit(std::size_t bytes) noexcept {
    return with_core([&](core& c) { return c.set_limit(bytes); });
  }
  bool set_target(std::size_t bytes) noexcept {
    return with_core([&](core& c) { return c.set_target(bytes); });
  }
  bool on_limit(mem::budget::asked* who) noexcept {
    return with_core([&](core& c) { return c.on_limit(who), false; });
  }
  bool on_target(mem::budget::told* who) noexcept {
    return with_core([&](core& c) { return c.on_target(who), false; });
  }

  // ---- the heap profile (core.hpp)
  profiling start_profile(std::uint64_t mean) noexcept {
    profiling answer = profiling::no_memory;
    with_lab_or_none(effort::little, [&](core& c, lab* l) { answer = c.start_profile(l, mean); });
    return answer;
  }
  void stop_profile() noexcept {
    with_lab_or_none(effort::little, [](core& c, lab* l) { c.stop_profile(l); });
  }
  bool is_profiling() const noexcept {
    core* const c = core_.load(order::acquire);  // sync: installed
    return c && c->is_profiling();
  }
  // Null: it was never started.
  const mem::heap_profile* profile() const noexcept {
    core* const c = core_.load(order::acquire);  // sync: installed
    return c ? c->profile() : nullptr;
  }
  std::size_t waste_beside(const mem::sampled_block& b) const noexcept {
    core* const c = core_.load(order::acquire);  // sync: installed
    return c ? c->waste_beside(b) : 0;
  }

  const options& effective_options() const noexcept {
    core* const c = core_.load(order::acquire);  // sync: installed
    return c ? c->effective_options() : Host::configured();
  }

#if POLDER_CHECK_LEVEL >= 2
  core::census validate() const noexcept {
    core* const c = core_.load(order::acquire);  // sync: installed
    return c ? c->validate() : core::census{};
  }
#endif

  // The calling thread gives its LAB up; it may come back. If it was torn out of an operation, by cancellation or pthread_exit in
  // a handler, the LAB is as that left it: nobody may have it, as if the thread had been killed there.
  void leave_thread() noexcept {
    lab* const l = exchange_own(here(), nobody());
    if (l == nobody()) return;
    signal_fence();
    if (l->door.active()) return;
    core_.load(order::acquire)->release_lab(*l);  // sync: installed
  }

  // Nothing is locked, so there is nothing to do before a fork, or after it in the parent.
  void after_fork_child() noexcept {
    if (core* const c = core_.load(order::acquire)) c->after_fork_child(here());  // sync: installed
  }

 private:
  POLDER_ALWAYS_INLINE static lab*& here() noexcept { return Host::template current_lab<lab>(); }

  // The class of the block at p, whoever owns it, where all that is in the thread's reach says that it is a live one. 0: ask the core.
  POLDER_ALWAYS_INLINE static unsigned class_here(const void* p) noexcept {
    const lab& l = *here();
    const std::size_t g = l.grain_of(p);
    if (g >= l.opened) [[unlikely]]
      return 0;
    const std::uint32_t w = l.words[g].load(order::relaxed);
    const unsigned c = mem::word::cls(w);
    return c - 1 < classes::count && is_place(c, p) && !mem::word::is_thin(w) &&
                   !links::fit(static_cast<const mem::block*>(p), l.secret)
               ? c
               : 0;
  }
  static lab* nobody() noexcept { return &Host::template nobody<lab>; }

  core* shared() noexcept {
    core* mine = nullptr;
    core* const c = install_once(
        core_, [&] { return mine = core::create(Host::configured()); },
        [&](core* fresh) {
          fresh->abandon();
          mine = nullptr;
        });
    if (mine) [[unlikely]]
      Host::installed();
    return c;
  }

  // f(core), and a trim if that asks for one. False: there is no heap.
  template <class F>
  bool with_core(F f) noexcept {
    core* const c = shared();
    if (!c) return false;
    if (f(*c)) trim(0);
    return true;
  }

  // Brings the calling thread inside a LAB of its own. Null: none can be had, or it is claimed, or the thread is inside already
  // (a signal handler), or its exit is behind it.
  lab* come_in(effort e) noexcept {
    for (;;) {
      lab* l = here();
      if (l == nobody()) {
        core* const c = shared();
        if (!c || !Host::may_settle()) return nullptr;
        l = c->acquire_lab(c->number_of_caller(), e);
        if (!l) return nullptr;
        // A signal handler may have settled this thread in the meantime: one compare-and-swap against it.
        if (!replace_own(here(), nobody(), l)) {
          c->release_lab(*l);
        } else if (!Host::watch_thread_exit()) {
          leave_thread();
          return nullptr;
        }
        continue;
      }
      if (l->door.active()) return nullptr;
      core& c = *core_.load(order::relaxed);
      if (l->door.come_in()) {
        l->turned_away_since.store(0, order::relaxed);
        c.note_return(*l);
        return l;
      }
      if (!c.is_claimed_for_long(*l)) return nullptr;
      give_way(*l);
    }
  }

  // To who claims the thread's LAB. A handler that comes by meanwhile must neither find it here nor give it away once more.
  void give_way(lab& l) noexcept {
    if (!replace_own(here(), &l, nobody())) return;  // a handler has done so
    signal_fence();
    if (core_.load(order::relaxed)->give_way(l)) return;
    // The claim is over, and this LAB may not go to others (sync/lab_state.hpp); one that a handler has taken may.
    lab* const other = exchange_own(here(), &l);
    if (other != nobody()) core_.load(order::relaxed)->release_lab(*other);
  }

  // A LAB for one operation, inside it. Whoever trims may claim it as soon as it is acquired, before this thread is inside: then
  // that one keeps it, and another is taken.
  static lab* borrow(core& c, effort e) noexcept {
    for (;;) {
      lab* const l = c.acquire_lab(gate::unnumbered, e);
      if (!l) return nullptr;
      if constexpr (requires { Host::about_to_borrow(*l); }) Host::about_to_borrow(*l);
      if (l->door.come_in()) return l;
      c.release_lab(*l);
    }
  }

  // Runs f(core, lab) inside a LAB: the thread's own, or one borrowed for this operation; null: none can be had. Whether it was its own.
  template <class F>
  POLDER_ALWAYS_INLINE bool with_lab_or_none(effort e, F f) noexcept {
    if (lab* const l = come_in(e)) {
      f(*core_.load(order::relaxed), l);
      l->door.exit();
      return true;
    }
    core* const c = shared();
    if (!c) return false;
    lab* const l = borrow(*c, e);
    f(*c, l);
    if (l) {
      l->door.exit();
      c->release_lab(*l);
    }
    return false;
  }

  // f(core, lab), for who allocates. What a borrowed LAB cannot have may lie free in the thread's own, which somebody has claimed: that
  // is over in a moment, and is waited for, but not for good: many looks, for who trims again and again is seldom elsewhere, and some
  // naps, for one who was stopped.
  template <class F>
  POLDER_NOINLINE void* allocate_with_lab(F f) noexcept {
    constexpr unsigned most_naps = 16, most_looks = 1000;
    void* p = nullptr;
    const auto allocate_in = [&](core& c, lab* l) {
      if (l) p = f(c, *l);
    };
    if (with_lab_or_none(effort::all, allocate_in) || p) return p;
    for (unsigned looks = 0; here() != nobody() && !here()->door.active(); ++looks) {
      if (looks == most_naps * most_looks) return nullptr;
      if (looks % most_looks == most_looks - 1) os::sleep_for(1);
      if (lab* const own = come_in(effort::little)) {
        allocate_in(*core_.load(order::relaxed), own);
        own->door.exit();
        return p;
      }
    }
    return nullptr;
  }

  // The fast path of malloc: served(block), or missed(n, inside) as for allocate_or. `asked` of the n bytes count.
  template <class Served, class Missed>
  POLDER_ALWAYS_INLINE void* take(std::size_t n, std::size_t asked, Served served, Missed missed) {
    lab& l = *beside_the_result(here());
    if (!l.door.announce()) [[unlikely]]
      return missed(n, false);
    if (l.door.admits(n)) [[likely]] {
      const std::size_t i = (n + 15) >> 4;
      mem::block* b = pop(l, *l.direct[i]);
      if (b == nullptr && l.until_sample > std::int64_t(asked))
          [[unlikely]] {  // a profile is on, and does not draw this one
        read_anew(l.secret);
        b = pop(l, *l.counted[i]);
        if (b != nullptr) l.until_sample -= std::int64_t(asked);
      }
      if (b != nullptr) [[likely]] {
        l.door.exit();
        return served(b);
      }
    }
    return missed(n, true);
  }

  // Null: it has none, or its first one was written to.
  POLDER_ALWAYS_INLINE static mem::block* pop(lab& l, mem::span& s) noexcept {
    mem::block* const b = s.free;
    if (!links::fit(b, l.secret)) [[unlikely]]
      return nullptr;
    return take_first(s, l.secret);
  }

  // Where the fast path did not serve a size that `direct` does not have: a block from the shelf or the hot span of its class, and
  // out. Null: not so, and nothing has changed.
  POLDER_ALWAYS_INLINE static mem::block* pop_beyond_direct(std::size_t n, bool inside) noexcept {
    if (n <= lab::direct_limit || n > mem::size_class::stepped::largest || !inside) return nullptr;
    lab& l = *here();
    if (!l.door.active() || !l.door.is_open() || l.watched != 0 || l.is_time_to_look()) [[unlikely]]
      return nullptr;
    const unsigned c = lab::class_beyond_direct(n);
    const bool on_shelf = shelf::suits(c) && l.shelved.first(c) != nullptr;
    mem::block* const b = on_shelf ? take_from_shelf(l, c) : pop(l, *l.hot[c]);
    if (b == nullptr) [[unlikely]]
      return nullptr;
    read_anew(l.beyond);
    ++l.beyond;
    l.door.exit();
    return b;
  }

  template <auto missed>
  POLDER_NOINLINE static void* pop_beyond_direct_or(std::size_t n,
                                                    bool inside) noexcept(noexcept(missed(n, inside))) {
    if (mem::block* const b = pop_beyond_direct(n, inside)) [[likely]]
      return b;
    return missed(n, inside);
  }

  // Where the fast path did not serve: f(core, lab).
  template <class F>
  POLDER_ALWAYS_INLINE void* missed_by(F f, bool inside) noexcept {
    lab& l = *here();
    // Not so if it announced itself where no other handler had settled the thread yet, or at a LAB that one gave away.
    if (inside && l.door.active()) [[likely]] {
      if (l.door.is_open()) [[likely]] {
        void* const p = f(*core_.load(order::relaxed), l);
        l.door.exit();
        return p;
      }
      l.door.exit();
    } else if (inside) {
      nobody()->door.exit();
    }
    return allocate_with_lab(f);
  }

  // What free was told of a block's size. suits, suits_class: it is this span's, as far as can be told at once; check: does not
  // return if it cannot be.
  struct any_size {
    bool suits(const mem::span&) const { return true; }
    bool suits_class(unsigned) const { return true; }
    void check(const core&, const void*) const noexcept {}
  };
  struct of_size {
    std::size_t n;
    bool suits(const mem::span& s) const { return n <= s.block_size && (n > s.block_size / 2 || s.cls == 1); }
    bool suits_class(unsigned c) const { return c <= classes::count && classes::keeps(c, n); }
    void check(const core& c, const void* p) const noexcept { c.check_size(p, n); }
  };

  template <class Size>
  POLDER_ALWAYS_INLINE void deallocate_as(void* p, Size size) noexcept {
    lab& l = *here();
    // Null and everything else outside the opened arena is the slow path's.
    const std::size_t g = l.grain_of(p);
    if (g < l.opened && l.door.announce()) [[likely]] {
      // Read inside: who claims the LAB, or a handler, may mark the span full before.
      if (l.door.admits_key(l.words[g].load(order::relaxed) & ~mem::word::below_tag)) [[likely]] {
        mem::span& s = l.spans[g];
        auto* const b = static_cast<mem::block*>(p);
        if (!may_be_outside(s, b, l.secret)) [[unlikely]]
          return beyond(p, *this, size);
        if (!size.suits(s)) [[unlikely]]
          return deallocate_asked(p, *this, size, l);
        read_anew(l.secret);
        if (put_first(s, b, l.secret)) [[unlikely]]
          return emptied(s, l, *this);
        return l.door.exit();
      }
      return deallocate_inside(p, *this, size, l, g);
    }
    return deallocate_outside(p, *this, size);
  }

  // One block of many, inside. False: there is more to be asked.
  POLDER_ALWAYS_INLINE static bool put_back(core& c, lab& l, void* p) noexcept {
    const std::size_t g = l.grain_of(p);
    if (g >= l.opened) [[unlikely]]
      return false;
    const std::uint32_t w = l.words[g].load(order::relaxed);
    if (l.door.admits_key(w & ~mem::word::below_tag)) {
      mem::span& s = l.spans[g];
      auto* const b = static_cast<mem::block*>(p);
      if (!may_be_outside(s, b, l.secret)) [[unlikely]] {
        c.check_beyond(p);
        return false;
      }
      if (put_first(s, b, l.secret)) [[unlikely]]
        c.emptied(l, s);
      return true;
    }
    const joined j = join_list(l, p, w);
    if (j == joined::full_list) [[unlikely]]
      c.send_due(l, mem::word::owner(w));
    return j != joined::none;
  }

  // Where deallocate goes on. Their arguments stand in an order in which the fast path, which ends in a jump there, has to
  // move little.

  // Announced at l, and not let in. Where l is open it is the thread's still: a handler that gave it away left it closed.
  template <class Size>
  POLDER_NOINLINE static void deallocate_inside(void* p, polder_heap& self, Size size, lab& l,
                                                std::size_t g) noexcept {
    if (!l.door.is_open()) [[unlikely]]
      return deallocate_turned_away(p, self, size, l);
    const std::uint32_t w = l.words[g].load(order::relaxed);
    const bool suits = size.suits_class(mem::word::cls(w));
    const joined j = suits ? join_list(l, p, w) : joined::none;
    if (j == joined::list) [[likely]]
      return l.door.exit();
    if (j == joined::full_list) return send_due(w, self, l);
    if (suits && put_on_shelf(l, p, w)) return l.door.exit();
    return deallocate_asked(p, self, size, l);
  }
  POLDER_NOINLINE static void send_due(std::uint32_t w, polder_heap& self, lab& l) noexcept {
    self.core_.load(order::relaxed)->send_due(l, mem::word::owner(w));
    l.door.exit();
  }
  template <class Size>
  POLDER_NOINLINE static void deallocate_asked(void* p, polder_heap& self, Size size, lab& l) noexcept {
    core& c = *self.core_.load(order::relaxed);
    size.check(c, p);
    c.deallocate(l, p);
    l.door.exit();
  }
  // The LAB is claimed, or shut, or was given away by a handler after it was looked up.
  template <class Size>
  [[gnu::cold]] POLDER_NOINLINE static void deallocate_turned_away(void* p, polder_heap& self, Size size,
                                                                   lab& l) noexcept {
    l.door.exit();
    return deallocate_outside(p, self, size);
  }
  template <class Size>
  POLDER_NOINLINE static void deallocate_outside(void* p, polder_heap& self, Size size) noexcept {
    if (p == nullptr) return;
    if (core* const c = self.core_.load(order::acquire)) size.check(*c, p);  // sync: installed
    if (lab* const l = self.come_in(effort::little)) {
      self.core_.load(order::relaxed)->deallocate(*l, p);
      l->door.exit();
    } else if (core* const c = self.shared()) {
      c->deallocate_without_lab(p);
    }
  }
  POLDER_NOINLINE static void emptied(mem::span& s, lab& l, polder_heap& self) noexcept {
    self.core_.load(order::relaxed)->emptied(l, s);
    l.door.exit();
  }
  // Of a block that lies at or beyond where the span's blocks are all handed out, or is free.
  template <class Size>
  [[gnu::cold]] POLDER_NOINLINE static void beyond(void* p, polder_heap& self, Size size) noexcept {
    self.core_.load(order::relaxed)->check_beyond(p);
    deallocate_asked(p, self, size, *here());
  }

  // core_ — the heap, once it is made.
  //   written by  the first thread that allocates; two may race, the loser gives its reservation back
  //   read by     every slow path
  //   order       installed: the tables; who is inside a LAB has acquired them with it
  atomic<core*> core_;
};

}  // namespace polder::heap
