#pragma once
// front — scalloc's frontend: a LAB a thread, or a LAB a core, over the pool and the arena.
//
//   paper      Aigner et al. 2015, sec. 3.4 and 5
//   progress   malloc from the hot span and free into it: wait-free, no atomic read-modify-write. Other frees: as
//              span_life says. The pool is lock-free, the sets of reusable spans have a lock a LAB
//   in malloc  yes. Not in a signal handler that interrupted its thread inside: it may hold a lock
//   invariant  blocks of a span free + blocks of it held == capacity
//   deviation  LABs by core are under a lock while a thread allocates from one or frees a block of its own: the paper does
//              not say how the threads of a core share a local free list, and they may move to other cores meanwhile.
//              The free list of a fresh span is threaded a page at a time, so that blocks never used cost no memory
#include <cstddef>
#include <cstdint>

#include <polder/heap/parts.hpp>
#include <polder/heap/scalloc/size_classes.hpp>
#include <polder/heap/scalloc/span_arena.hpp>
#include <polder/heap/scalloc/span_life.hpp>
#include <polder/heap/scalloc/span_pool.hpp>
#include <polder/mem/block.hpp>
#include <polder/os/futex.hpp>
#include <polder/os/processors.hpp>
#include <polder/sync/glimpsed.hpp>
#include <polder/sync/growing_list.hpp>

namespace polder::heap::scalloc {

static_assert(sizeof(span) == header_bytes);

// What the paper's ablations change.
struct variant {
  bool madvise = true;        // give memory of long spans back when they are empty
  bool virtual_spans = true;  // false: huge pages, so that what a real span does not use has memory all the same
  bool span_pool = true;      // false: one stack a real-span size
  reclaim when = reclaim::in_free;
};

enum option : unsigned { reuse_percent, madvise_threshold, virtual_span, lab_model, protect };
enum class labs : std::uint8_t { of_threads, of_cores };

// For the calling thread, which sleeps where it must wait.
struct os_locks {
  static void lock(owned_lock& l) noexcept { os::lock(l); }
  static void unlock(owned_lock& l) noexcept { os::unlock(l); }
};

// All but what is compiled for a variant.
class front_core {
 public:
  using size_classes = scalloc::size_classes;
  static constexpr bool reentrant = false;
  static constexpr bool spills = true;  // what the arena does not give is had as a huge block

  using lab_type = lab<size_classes::count>;
  struct core_lab {
    owned_lock door;       // held by who works in it
    unsigned threads = 0;  // assigned to it; under the door
    lab_type own;
  };
  struct cache : cache_header {
    lab_type own;      // TLAB; in the core model never opened
    core_lab* shared;  // CLAB, while the cache is assigned to one
    bool entered;      // it has a LAB
    bool known;        // in the front's list of caches, for good
    plain<cache*> next_known;
    // What it has done so far.
    glimpsed<std::size_t> real_taken, real_given;  // bytes of real spans, from and to the pool
    glimpsed<std::size_t> kept_put, kept_taken;    // of them bytes that hold memory
    glimpsed<std::uint64_t> spans_taken, spans_given;
    glimpsed<std::uint64_t> refills, remote_frees;
    std::uint64_t pool_hits, pool_same_size;  // spans that came from the pool, and with the same real-span size
  };

  front_core(const heap_setting& s, const variant& v) noexcept;
  bool begin() noexcept;
  void end() noexcept { arena_.abandon(); }

  // A class is said of everything in a virtual span that was ever used, of its header and of what lies beyond the real
  // span too: who frees there is told by is_held().
  POLDER_ALWAYS_INLINE block_info find(const void* p) const noexcept {
    span* const s = arena_.find(p);
    if (!s) return {};
    return {.cls = s->cls.load(order::relaxed), .within = true, .span = s, .record = s};
  }

  // Does not return unless p is a block that somebody holds. That may look free, where its user has copied to it what nobody has
  // written to since it was part of a free one: so a block is free only if it is on one of its span's lists, too.
  void check(const void* p, block_info b) const noexcept {
    const span& s = *static_cast<const span*>(b.record);
    if (!in_use(s) || !is_place(p, s, b.cls)) tell(p, s);
    if (!is_held(p, s, b.cls) && is_listed(s, static_cast<const mem::block*>(p))) tell(p, s);
  }

  const span_cuts& cuts() const noexcept { return cuts_; }
  const span_arena& arena() const noexcept { return arena_; }
  span_pool& pool() noexcept { return pool_; }
  mem::secret secret() const noexcept { return setting_.secret; }

  void add_to(statistics& s) const noexcept;
  void validate() const noexcept;

 protected:
  auto links() noexcept {
    return [this](span_number n) -> atomic<span_number>& { return arena_.at(n).link; };
  }
  auto links() const noexcept {
    return [this](span_number n) -> atomic<span_number>& { return arena_.at(n).link; };
  }

  POLDER_ALWAYS_INLINE bool is_place(const void* p, const span& s, unsigned c) const noexcept {
    return cuts_.is_block(c, std::uint32_t(address(p) - address(&s)), s.bumped.load(order::relaxed));
  }
  POLDER_ALWAYS_INLINE bool is_held(const void* p, const span& s, unsigned c) const noexcept {
    return is_place(p, s, c) && !static_cast<const mem::block*>(p)->looks_free(setting_.secret);
  }
  // In the pool, and in the arena, no block is held.
  static bool in_use(const span& s) noexcept { return s.epoch.load(order::relaxed).state() >= span_state::hot; }
  [[gnu::cold]] bool is_listed(const span& s, const mem::block* b) const noexcept;
  [[noreturn, gnu::cold]] void tell(const void* p, const span& s) const noexcept;

  void know(cache& k) noexcept;
  // No page of a block this long is left untouched for long.
  static constexpr std::size_t longest_populated = 16 * KiB;

  // grows: the LAB has used up the span before.
  span* new_span(cache& k, unsigned c, bool grows) noexcept;
  void extend(span& s, unsigned c) noexcept;
  void give(cache& k, span& s) noexcept;
  std::size_t drop(span& s, std::size_t from) noexcept;
  std::size_t compact(cache* k) noexcept;
  std::size_t hollow(const span& s, unsigned c) noexcept;
  void check_list(const span& s, list_word w, std::uint32_t listed) const noexcept;
  std::uint32_t check_sets(const lab_type& l) const noexcept;

  heap_setting setting_;
  variant variant_;
  span_cuts cuts_;
  span_arena arena_;
  mutable span_pool pool_;  // validate() takes it apart and puts it together again
  std::uint32_t threshold_percent_;
  std::size_t madvise_above_;  // bytes of a real span
  labs model_;
  growing_list<cache, &cache::next_known> known_;  // every cache that ever had a LAB
  atomic<std::size_t> compacted_;                  // bytes that a trim without a cache gave back. Relaxed: a sum
  bool in_child_ = false;                          // after a fork spans that others had in hand are lost
  core_lab core_labs_[span_pool::most_cores];
};

template <variant v>
class front : public front_core {
 public:
  using life = span_life<size_classes::count, os_locks, v.when>;

  explicit front(const heap_setting& s) noexcept : front_core(s, v) {}

  POLDER_ALWAYS_INLINE void* allocate_at_once(cache& k, unsigned c) noexcept {
    if (span* const s = k.own.hot[c]) [[likely]] {
      const list_word w = s->local.load(order::relaxed);
      if (auto* const b = w.first<mem::block>(); b && b->looks_free(setting_.secret)) [[likely]]
        return take(*s, w, b);
    }
    return nullptr;
  }

  void* allocate(cache& k, unsigned c) noexcept {
    enter(k);
    if (!k.shared) return allocate_from(k, k.own, c);
    os::lock(k.shared->door);
    void* const p = allocate_from(k, k.shared->own, c);
    os::unlock(k.shared->door);
    return p;
  }

  // A block of a span of this thread's own LAB.
  POLDER_ALWAYS_INLINE freed deallocate_at_once(cache& k, void* p, block_info b) noexcept {
    span& s = *static_cast<span*>(b.record);
    auto* const block = static_cast<mem::block*>(p);
    if (!is_held(p, s, b.cls)) [[unlikely]]
      return freed::not_yet;
    if (k.own.hot[b.cls] == &s) [[likely]]
      return life::push_hot(s, block, linker()), freed::all;
    if (s.owner.load(order::relaxed) != k.own.owner.load(order::relaxed) || !in_use(s)) return freed::not_yet;
    return life::push_cool(s, block, linker()) ? freed::all : freed::all_but_rest;
  }
  void finish(cache& k, void* record) noexcept { life::settle(*static_cast<span*>(record), giver(k)); }

  void deallocate(cache& k, void* p, block_info b) noexcept {
    const freed done = deallocate_at_once(k, p, b);
    if (done == freed::all) return;
    if (done == freed::all_but_rest) return finish(k, b.record);
    span& s = *static_cast<span*>(b.record);
    if (!is_held(p, s, b.cls) || !in_use(s)) [[unlikely]] {
      check(p, b);
      static_cast<mem::block*>(p)->wipe();  // it does not look free any more
      return deallocate(k, p, b);
    }
    free_elsewhere(k, b.cls, s, static_cast<mem::block*>(p));
  }

  void leave(cache& k) noexcept {
    if (k.shared) {
      core_lab& shared = *k.shared;
      os::lock(shared.door);
      if (--shared.threads == 0) life::terminate(shared.own, giver(k));
      os::unlock(shared.door);
      k.shared = nullptr;
    }
    if (!k.own.owner.load(order::relaxed).terminated()) life::terminate(k.own, giver(k));
    k.entered = false;
  }

  std::size_t trim(cache* k) noexcept {
    std::size_t bytes = 0;
    for (unsigned c = 1; k && c <= size_classes::count; ++c) {
      span* const s = k->own.hot[c];
      if (!s) continue;
      if (life::full(*s)) life::cool(k->own, c, giver(*k));
      else bytes += hollow(*s, c);
    }
    return bytes + compact(k);
  }

  // The other threads are gone. The LABs of those that were outside are ended by heap.hpp, as at any thread's end.
  void after_fork_child() noexcept {
    in_child_ = true;
    const owned_lock::mark me = os::thread_mark();
    known_.each([&](cache& k) {
      const bool torn = k.own.lock.release_in_child(me);
      if (k.state == cache_state::inside && k.holder != me) life::bury(k.own, torn);
      else if (torn) life::forget_sets(k.own);
    });
    for (core_lab& shared : core_labs_) {
      shared.door.release_in_child(me);
      if (shared.own.lock.release_in_child(me)) life::forget_sets(shared.own);
    }
  }

 private:
  auto giver(cache& k) noexcept {
    return [this, &k](span& s) { this->give(k, s); };
  }
  auto linker() const noexcept {
    return [this](mem::block* b, mem::block* next) { b->set_link(next, setting_.secret); };
  }

  // The first block of the span's local list w.
  POLDER_ALWAYS_INLINE static void* take(span& s, list_word w, mem::block* first) noexcept {
    s.local.store(w.popped(first->link), order::relaxed);
    first->wipe();
    return first;
  }
  // Null: none is listed.
  void* pop(span& s) noexcept {
    const list_word w = s.local.load(order::relaxed);
    auto* const b = w.first<mem::block>();
    if (!b) return nullptr;
    if (!b->looks_free(setting_.secret))
      mem::report(mem::misuse::corrupted, b, {.span = &s, .cls = s.cls.load(order::relaxed)});
    return take(s, w, b);
  }

  void* allocate_from(cache& k, lab_type& l, unsigned c) noexcept {
    bool grows = false;
    for (;;) {
      if (span* const s = l.hot[c]) {
        if (s->local.load(order::relaxed).none_listed() && s->local.load(order::relaxed).count() != 0)
          extend(*s, c);
        if (void* const p = pop(*s)) return p;
        if (life::refill(*s)) continue;
        life::cool(l, c, giver(k));
        grows = true;
      }
      ++k.refills;
      if (life::reuse(l, c, giver(k))) continue;
      span* const fresh = new_span(k, c, grows);
      if (!fresh) return nullptr;
      life::open(l, c, *fresh);
    }
  }

  // Of a span that is not of the thread's own LAB: of its core's, or somebody else's.
  void free_elsewhere(cache& k, unsigned c, span& s, mem::block* b) noexcept {
    enter(k);
    const owner_word o = s.owner.load(order::relaxed);
    if (!k.shared) return free_remotely(k, k.own, o, s, b);
    core_lab& shared = *k.shared;
    if (o != shared.own.owner.load(order::relaxed)) return free_remotely(k, shared.own, o, s, b);
    os::lock(shared.door);
    life::free_local(shared.own, c, s, b, linker(), giver(k));
    os::unlock(shared.door);
  }
  void free_remotely(cache& k, lab_type& l, owner_word o, span& s, mem::block* b) noexcept {
    ++k.remote_frees;
    life::free_remote(l, o, s, b, linker(), giver(k));
  }

  // The cache has a LAB from here on.
  void enter(cache& k) noexcept {
    if (k.entered) [[likely]]
      return;
    know(k);
    if (model_ == labs::of_threads) {
      life::init(k.own);
    } else {
      core_lab& shared = core_labs_[k.number % pool_.cores()];
      os::lock(shared.door);
      if (shared.threads++ == 0) life::init(shared.own);
      os::unlock(shared.door);
      k.shared = &shared;
    }
    k.entered = true;
  }
};

}  // namespace polder::heap::scalloc
