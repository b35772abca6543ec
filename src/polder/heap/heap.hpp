#pragma once
// heap — a heap made of parts: what is the same whatever its sheet says.
//
//   progress   its front's. Taking a cache, leaving it, and blocks beyond the size classes are lock-free
//   in malloc  yes. In a signal handler: yes, also when it interrupted malloc or free
//
// A block of a size class comes from the sheet's front, through the calling thread's cache; a larger one is a mapping of
// its own (mem/huge_blocks.hpp). Where a thread stands:
//
//             first operation               enter                    a handler that finds it inside
//    nobody ───────────────────▶ outside ──────────▶ inside          · reentrant front: borrows another cache
//      ▲                         │    ▲                │              · else: allocates a huge block, and what it
//      └──────── leave_thread ───┘    └──── exit ──────┘                frees waits until this thread is outside
//
// After its thread's exit is behind it, an operation borrows a cache for as long as it lasts. All-zero memory is a heap
// that has not begun: it makes itself in the first slow path.
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include <polder/base/bits.hpp>
#include <polder/base/config.hpp>
#include <polder/heap/high_water.hpp>
#include <polder/heap/parts.hpp>
#include <polder/mem/huge_blocks.hpp>
#include <polder/mem/record_table.hpp>
#include <polder/os/entropy.hpp>
#include <polder/os/futex.hpp>
#include <polder/os/linux/without_signals.hpp>
#include <polder/os/pages.hpp>
#include <polder/sync/inbox.hpp>
#include <polder/sync/index_stack.hpp>
#include <polder/sync/install_once.hpp>

namespace polder::heap {

// What threads share. A member that takes a cache may be called by who is inside it; null: none may be used, so blocks
// are huge ones, and a block of a size class that is freed waits in `deferred_`.
template <class Sheet>
class shared_heap {
 public:
  using front_type = typename Sheet::front;
  using classes = typename front_type::size_classes;
  using cache = typename front_type::cache;
  static_assert(front<front_type>);
  static constexpr bool has_caches = !std::is_same_v<cache, no_cache>;

  static shared_heap* create(const options& o) noexcept {
    const std::size_t page = o.page_size > os::page_size() ? o.page_size : os::page_size();
    auto* const at = static_cast<std::byte*>(os::map(mapped_bytes()));
    if (!at) return nullptr;
    auto* const s = new (at) shared_heap(at, o, page);
    if (s->front_.begin()) return s;
    os::unmap(at, mapped_bytes());
    return nullptr;
  }
  void abandon() noexcept {
    front_.end();
    os::unmap(this, mapped_bytes());
  }

  // ---- caches -----------------------------------------------------------------------------------------------------

  // One that nobody has, open; null: no memory for another.
  cache* acquire() noexcept {
    std::uint32_t n = left_.pop(links());
    if (n == 0) n = idle_.pop(links());
    if (n == 0) {
      n = caches_.add();
      if (n == 0) return nullptr;
      caches_.at(n).number = n;
    }
    return &taken(n);
  }

  // By who has it: it holds nothing afterwards, and is closed. False: who has it was torn out of an operation, so is what it
  // holds, and nobody else may have it.
  bool empty(cache& k) noexcept {
    if (!k.enter()) return false;
    front_.leave(k);
    k.exit();
    settle(k);
    k.close();
    return true;
  }

  // An empty one, for whoever comes next: it is no longer mine.
  void offer(cache& k) noexcept {
    k.holder = 0;
    idle_.push(k.number, links());
  }

  void release(cache& k) noexcept {
    if (empty(k)) offer(k);
  }

  // The same of one that is closed, with what it holds: the next goes on where this one stopped. Who borrows one for each of
  // many operations would otherwise open a span for each.
  void offer_as_it_is(cache& k) noexcept {
    k.holder = 0;
    left_.push(k.number, links());
  }

  // ---- blocks -----------------------------------------------------------------------------------------------------

  POLDER_ALWAYS_INLINE void* allocate_small(cache& k, unsigned c) noexcept {
    void* const p = front_.allocate(k, c);
    if (p) [[likely]]
      k.taken += classes::block_size[c];
    return p;
  }

  // What the front can do without calling a function, if it has such a part; else all that it does.
  POLDER_ALWAYS_INLINE void* allocate_at_once(cache& k, unsigned c) noexcept {
    if constexpr (requires { front_.allocate_at_once(k, c); }) {
      void* const p = front_.allocate_at_once(k, c);
      if (p) [[likely]]
        k.taken += classes::block_size[c];
      return p;
    } else {
      return allocate_small(k, c);
    }
  }
  // record: of the block, for finish().
  POLDER_ALWAYS_INLINE freed deallocate_at_once(cache& k, void* p, void*& record) noexcept {
    const block_info b = front_.find(p);
    if (b.cls == 0) return freed::not_yet;
    record = b.record;
    if constexpr (requires { front_.deallocate_at_once(k, p, b); }) {
      const freed done = front_.deallocate_at_once(k, p, b);
      if (done != freed::not_yet) [[likely]]
        k.given += classes::block_size[b.cls];
      return done;
    } else {
      deallocate_small(k, p, b);
      return freed::all;
    }
  }
  void finish(cache& k, void* record) noexcept {
    if constexpr (requires { front_.finish(k, record); }) front_.finish(k, record);
  }

  void* allocate(cache* k, std::size_t n, std::size_t alignment = min_alignment, bool* zero = nullptr) noexcept {
    void* p = try_allocate(k, n, alignment, zero);
    if (!p && n <= PTRDIFF_MAX) {
      trim(k);
      p = try_allocate(k, n, alignment, zero);
    }
    return p;
  }

  void* allocate_zeroed(cache* k, std::size_t n) noexcept {
    bool zero = false;
    void* const p = allocate(k, n, min_alignment, &zero);
    if (p && !zero) __builtin_memset(p, 0, n);
    return p;
  }

  POLDER_ALWAYS_INLINE void deallocate_small(cache& k, void* p, block_info b) noexcept {
    k.given += classes::block_size[b.cls];
    front_.deallocate(k, p, b);
  }

  void deallocate(cache* k, void* p) noexcept {
    const block_info b = front_.find(p);
    if (b.cls == 0) return free_huge(p);
    if (k) return deallocate_small(*k, p, b);
    put_off(p, b);
  }

  void* reallocate(cache* k, void* p, std::size_t n) noexcept {
    const block_info b = find_held(p);
    std::size_t had;
    if (b.cls != 0) {
      if (classes::keeps(b.cls, n)) return p;
      had = classes::block_size[b.cls];
    } else {
      const std::uint32_t number = huge_number(p, b);
      had = huge_.usable(number);
      const bool small_again = n < had / 2 && n < worth_moving;
      if (!small_again) {
        if (void* const same = resize(number, p, n)) return same;
        // What is held back may be what is missing: else the block is copied, and its old mapping held back, each time.
        trim(k);
        if (void* const same = resize(number, p, n)) return same;
      }
    }
    void* const q = allocate(k, n);
    if (!q) {
      if (n > had) return nullptr;
      if (b.cls == 0) huge_.shrink(huge_.find(p), n);  // a shrink cannot fail
      else kept_though_small_.store(true, order::relaxed);
      return p;
    }
    __builtin_memcpy(q, p, n < had ? n : had);
    deallocate(k, p);
    return q;
  }

  std::size_t usable_size(const void* p) const noexcept {
    const block_info b = find_held(p);
    return b.cls != 0 ? classes::block_size[b.cls] : huge_.usable(huge_number(p, b));
  }

  bool owns(const void* p) const noexcept {
    const block_info b = front_.find(p);
    return b.cls != 0 || b.within || huge_.find(p) != 0;
  }

  // Does not return if p cannot be a block for which n bytes were asked. One of a class may have shrunk by a half, or by any
  // amount once one has for want of memory.
  void check_size(const void* p, std::size_t n, std::size_t alignment = 1) const noexcept {
    if (n == 0) n = 1;  // as it was had
    const block_info b = front_.find(p);
    const std::size_t held = usable_size(p);
    const bool suits = b.cls != 0 ? n <= held && (n > held / 2 || class_for(n, alignment) == b.cls ||
                                                  kept_though_small_.load(order::relaxed))
                                  : huge_.suits(huge_.find(p), n);
    if (!suits) report_size(p, b, held);
  }
  void check_aligned_size(const void* p, std::size_t alignment, std::size_t n) const noexcept {
    const std::size_t given = alignment_given(alignment);
    if (!is_aligned(address(p), given)) report_size(p, front_.find(p), usable_size(p));
    check_size(p, n, given);
  }

  // ---- the rest ---------------------------------------------------------------------------------------------------

  // Frees what was put off. `k`: inside.
  void catch_up(cache& k) noexcept {
    for (mem::block* b = deferred_.take_all(); b != nullptr;) {
      if (!b->looks_free(secret_)) mem::report(mem::misuse::corrupted, b);
      mem::block* const next = b->link;
      b->wipe();
      deallocate_small(k, b, front_.find(b));
      b = next;
    }
  }
  bool behind() const noexcept { return !deferred_.empty(); }

  // After an exit: a handler may have put frees off meanwhile.
  void settle(cache& k) noexcept {
    while (k.owing) {
      k.owing = false;
      if (!k.enter()) return;
      catch_up(k);
      k.exit();
    }
  }

  std::size_t trim(cache* k) noexcept {
    if (k && behind()) catch_up(*k);
    std::size_t bytes = huge_.purge(true);
    if (k || !has_caches || front_type::reentrant) {
      empty_left();
      bytes += front_.trim(k);
    }
    return bytes;
  }

  statistics read_statistics() const noexcept {
    statistics s;
    s.large = huge_.live_bytes();
    s.allocated = s.active = s.large;
    s.cached = huge_.cached_bytes();
    s.metadata = mapped_bytes() + caches_.bytes();
    s.resident = s.mapped = s.reserved = s.large + s.cached + s.metadata;
    for (std::uint32_t n = 1; n <= caches_.made(); ++n) {
      const cache& k = caches_.at(n);
      s.allocated += k.taken.glimpse() - k.given.glimpse();
      s.threads += k.state.glimpse() != cache_state::closed;
      ++s.labs;
    }
    front_.add_to(s);
    s = settled(s);
    memory_.note(s.resident);
    s.peak = memory_.highest();
    return s;
  }

  const options& effective_options() const noexcept { return options_; }
  front_type& front_part() noexcept { return front_; }
  const front_type& front_part() const noexcept { return front_; }

  // The other threads are gone. A cache whose thread was inside is torn: it stays as it is for ever. Emptying one takes
  // locks, and who was interrupted inside may hold them: then the next to have it gets it as it is. One between a stack and a
  // thread stays there, too: who was interrupted there, and forked, goes on with it; a gone thread's is lost.
  void after_fork_child(cache* own) noexcept {
    front_.after_fork_child();
    const std::uint32_t me = os::thread_mark();
    const bool may_lock = front_type::reentrant || own->state != cache_state::inside;
    for (std::uint32_t n = 1; n <= caches_.made(); ++n) {
      cache& k = caches_.at(n);
      if (k.holder == me || k.holder == 0 || k.state == cache_state::inside) continue;
      if (may_lock) {
        if (k.state == cache_state::closed) k.open();
        release(k);
      } else {
        if (k.state == cache_state::outside) k.close();
        offer_as_it_is(k);
      }
    }
  }

 private:
  static constexpr std::uint32_t most_caches = 1u << 20;
  static constexpr std::uint32_t caches_per_table =
      sizeof(cache) < 4 * KiB ? std::uint32_t(16 * KiB / sizeof(cache)) : 4;
  // Whether a block that the front has no room for is had as a huge one.
  static constexpr bool spills = [] {
    if constexpr (requires { front_type::spills; }) return front_type::spills;
    else return false;
  }();
  static constexpr std::size_t worth_moving = MiB;  // a huge block this long stays one when it shrinks
  using cache_table = mem::record_table<cache, caches_per_table, most_caches / caches_per_table>;

  // One mapping: this object, then directories that are large, zeroed, and touched only where they are used.
  static constexpr std::size_t map_at() { return align_up(sizeof(shared_heap), cache_line); }
  static constexpr std::size_t huge_at() { return map_at() + mem::radix_map::root_bytes; }
  static constexpr std::size_t caches_at() { return huge_at() + mem::huge_blocks::directory_bytes_of_many; }
  static std::size_t mapped_bytes() {
    return align_up(caches_at() + cache_table::directory_bytes, os::page_size());
  }

  shared_heap(std::byte* at, const options& o, std::size_t page) noexcept
      : options_(o),
        page_(page),
        secret_(os::process_secret()),
        map_(at + map_at()),
        huge_(map_, page, at + huge_at(), unbounded_, false, mem::huge_blocks::most::many),
        memory_(huge_, mapped_bytes()),
        caches_(at + caches_at()),
        front_(heap_setting{options_, page, secret_, map_, memory_, huge_}) {
    options_.page_size = page;
  }

  auto links() noexcept {
    return [this](std::uint32_t n) -> atomic<std::uint32_t>& { return caches_.at(n).next_idle; };
  }

  // By who has taken number n out of a stack, or made it.
  cache& taken(std::uint32_t n) noexcept {
    cache& k = caches_.at(n);
    k.holder = os::thread_mark();
    k.open();
    return k;
  }

  // One after the other, so that whoever needs a cache meanwhile finds the others.
  void empty_left() noexcept {
    if (left_.empty()) return;
    for (std::uint32_t tries = caches_.made(); tries != 0; --tries) {
      const std::uint32_t n = left_.pop(links());
      if (n == 0) return;
      release(taken(n));
    }
  }

  static unsigned class_for(std::size_t n, std::size_t alignment) noexcept {
    return alignment <= min_alignment ? classes::of(n) : classes::aligned(n, alignment);
  }

  void* try_allocate(cache* k, std::size_t n, std::size_t alignment, bool* zero) noexcept {
    huge_.age(options_.decay_ms);
    if (k) {
      if (const unsigned c = class_for(n, alignment)) {
        void* const p = allocate_small(*k, c);
        if (p || !spills) return p;
      }
    }
    if (n > PTRDIFF_MAX || alignment > PTRDIFF_MAX - n) return nullptr;
    const mem::huge_blocks::block_info b = huge_.take(n < 1 ? 1 : n, alignment);
    if (b.p) memory_.note_huge();
    if (zero) *zero = b.zero;
    return b.p;
  }

  // Of a huge block.
  std::byte* resize(std::uint32_t number, const void* p, std::size_t n) noexcept {
    std::byte* const same = huge_.resize(number, p, n);
    if (same) memory_.note_huge();
    return same;
  }

  // What find() says, of a block that is to stay: a front that can tell says here that nobody holds it.
  block_info find_held(const void* p) const noexcept {
    const block_info b = front_.find(p);
    if (b.cls != 0) check_held(p, b);
    return b;
  }
  void check_held(const void* p, block_info b) const noexcept {
    if constexpr (requires { front_.check(p, b); }) front_.check(p, b);
  }

  std::uint32_t huge_number(const void* p, block_info b) const noexcept {
    const std::uint32_t number = huge_.find(p);
    if (number == 0) report_stray(p, b);
    return number;
  }

  // Looks again what lies there when it must say so: then the fast paths need not keep it.
  POLDER_NOINLINE void free_huge(const void* p) noexcept {
    const std::uint32_t number = huge_.find(p);
    huge_.age(options_.decay_ms);
    if (number == 0 || !huge_.give(number, p)) report_stray(p, front_.find(p));
    if (options_.decay_ms == 0) huge_.purge_cache(true);
    else huge_.fit_cache();
  }

  void put_off(void* p, block_info b) noexcept {
    check_held(p, b);
    auto* const free = static_cast<mem::block*>(p);
    if (free->looks_free(secret_)) report_free(p, b, classes::block_size[b.cls], true);
    deferred_.push_list(free, free, [this](mem::block* last, mem::block* next) { last->set_link(next, secret_); });
  }

  // Whether some huge block reaches to p, for messages: the map knows the granules they begin in. Looks 1 GiB back.
  bool inside_huge(const void* p) const noexcept {
    const std::uintptr_t begin = align_down(address(p), mem::grain_size);
    for (std::uintptr_t back = 0; back <= GiB && back <= begin; back += mem::grain_size) {
      const std::uint32_t v = map_.find(begin - back);
      if (v == 0) continue;
      return (v & mem::radix_map::huge_mark) != 0 &&
             back < huge_.usable(v & ~mem::radix_map::huge_mark) + mem::grain_size;
    }
    return false;
  }

  [[noreturn]] void report_stray(const void* p, block_info b) const noexcept {
    const bool marked = inside_huge(p);
    if (marked) b.within = true;
    else if (!b.within && huge_.is_cached(p))
      mem::report(mem::misuse::double_free, p, {.remark = "a mapping of its own, which is kept for another block"});
    report_free(p, b, 0, false, marked ? "not the beginning of the block" : nullptr);
  }
  [[noreturn]] void report_size(const void* p, block_info b, std::size_t held) const noexcept {
    mem::report(mem::misuse::size_mismatch, p,
                {.block_size = held,
                 .span = b.cls != 0 ? b.span : p,
                 .cls = b.cls,
                 .owner = b.owner,
                 .remark = "the size or alignment it is freed with was never asked for"});
  }

  options options_;
  std::size_t page_;
  mem::secret secret_;
  mem::radix_map map_;
  mem::budget unbounded_;
  mem::huge_blocks huge_;
  mutable high_water memory_;
  cache_table caches_;
  index_stack idle_;            // caches without a thread, empty
  index_stack left_;            // those that were borrowed, with what they hold
  inbox<mem::block> deferred_;  // blocks freed where no cache could be used
  // kept_though_small_ — for want of memory realloc has left a block of a class where it lay, of which little was still wanted:
  // since then one may be freed with a size that is far below what it holds.
  //   written by  who did so, before the block's user hears of it
  //   read by     who frees a block with its size; that is told of the block by its user
  //   order       relaxed: on the way from one to the other lies whatever hands the block over
  atomic<bool> kept_though_small_{};
  front_type front_;
};

// Host: what lies above the heap (malloc/, or a test); polder_heap.hpp says what it must have.
template <class Sheet, class Host>
class heap {
 public:
  using shared_type = shared_heap<Sheet>;
  using cache = typename shared_type::cache;
  using lab_type = cache;
  using classes = typename shared_type::classes;
  static constexpr bool has_caches = shared_type::has_caches;
  static constexpr const heap_info& info = Sheet::info;
  static constexpr auto tunables = tunables_of<Sheet>();

  constexpr heap() noexcept = default;
  heap(const heap&) = delete;
  heap& operator=(const heap&) = delete;

  // ---- fast paths -------------------------------------------------------------------------------------------------

  // `missed(n, inside)` is what the caller does when the fast path does not serve; it must call allocate_missed.
  template <auto missed>
  POLDER_ALWAYS_INLINE void* allocate_or(std::size_t n) {
    if constexpr (has_caches) {
      cache& k = *here();
      if (k.enter()) [[likely]] {
        if (const unsigned c = classes::of(n)) [[likely]]
          if (void* const p = shared_.load(order::relaxed)->allocate_at_once(k, c)) [[likely]] {
            k.exit();
            return owes(k) ? settled(k, p) : p;
          }
        return missed(n, true);
      }
    } else if (shared_type* const s = begun()) [[likely]] {
      no_cache none;
      if (const unsigned c = classes::of(n)) [[likely]]
        if (void* const p = s->allocate_small(none, c)) [[likely]]
          return p;
    }
    return missed(n, false);
  }
  // inside: of the thread's own cache.
  POLDER_NOINLINE void* allocate_missed(std::size_t n, bool inside) noexcept {
    if (!inside) return allocate(n);
    return within<void*>(*here(), [&](shared_type& s, cache* k) { return s.allocate(k, n); });
  }

  void* allocate(std::size_t n) noexcept {
    return with_cache<void*>([&](shared_type& s, cache* k) { return s.allocate(k, n); });
  }

  // The same for calloc, which has no fast path here.
  template <auto missed>
  POLDER_ALWAYS_INLINE void* allocate_zeroed_or(std::size_t n) {
    return missed(n, false);
  }
  void* allocate_zeroed_missed(std::size_t n, bool) noexcept { return allocate_zeroed(n); }

  POLDER_ALWAYS_INLINE void deallocate(void* p) noexcept {
    if constexpr (has_caches) {
      cache& k = *here();
      if (p && k.enter()) [[likely]] {
        void* record;
        const freed done = shared_.load(order::relaxed)->deallocate_at_once(k, p, record);
        if (done == freed::not_yet) [[unlikely]]
          return deallocate_inside(p);
        if (done == freed::all_but_rest) [[unlikely]]
          return finish_inside(record);
        k.exit();
        if (owes(k)) [[unlikely]]
          settle(k);
        return;
      }
    } else if (shared_type* const s = begun(); p && s) [[likely]] {
      no_cache none;
      return s->deallocate(&none, p);
    }
    return deallocate_outside(p);
  }

  void* reallocate(void* p, std::size_t n) noexcept {
    return with_cache<void*>([&](shared_type& s, cache* k) { return s.reallocate(k, p, n); });
  }

  // ---- the rest ---------------------------------------------------------------------------------------------------

  void* allocate_zeroed(std::size_t n) noexcept {
    return with_cache<void*>([&](shared_type& s, cache* k) { return s.allocate_zeroed(k, n); });
  }
  void* allocate_aligned(std::size_t alignment, std::size_t n) noexcept {
    return with_cache<void*>([&](shared_type& s, cache* k) { return s.allocate(k, n, alignment); });
  }
  void deallocate_sized(void* p, std::size_t n) noexcept {
    if (shared_type* const s = begun(); s && p) s->check_size(p, n);
    deallocate(p);
  }
  void deallocate_aligned_sized(void* p, std::size_t alignment, std::size_t n) noexcept {
    if (shared_type* const s = begun()) s->check_aligned_size(p, alignment, n);
    deallocate(p);
  }
  std::size_t usable_size(const void* p) const noexcept {
    shared_type* const s = begun();
    return s ? s->usable_size(p) : 0;
  }
  bool owns(const void* p) const noexcept {
    shared_type* const s = begun();
    return s && s->owns(p);
  }
  std::size_t allocate_batch(std::size_t n, std::size_t count, void** out) noexcept {
    return with_cache<std::size_t>([&](shared_type& s, cache* k) {
      std::size_t had = 0;
      while (had < count && (out[had] = s.allocate(k, n)) != nullptr) ++had;
      return had;
    });
  }
  void deallocate_batch(void** blocks, std::size_t count) noexcept {
    with_cache<int>([&](shared_type& s, cache* k) {
      for (std::size_t i = 0; i < count; ++i)
        if (blocks[i]) s.deallocate(k, blocks[i]);
      return 0;
    });
  }
  // Everything at once: nothing is held back, so `keep_bytes` is not looked at.
  std::size_t trim(std::size_t) noexcept {
    return with_cache<std::size_t>([&](shared_type& s, cache* k) { return s.trim(k); });
  }
  statistics read_statistics() const noexcept {
    shared_type* const s = begun();
    return s ? s->read_statistics() : statistics{};
  }
  const options& effective_options() const noexcept {
    shared_type* const s = begun();
    return s ? s->effective_options() : Host::configured();
  }
  // For tests, while nobody is inside.
  void validate() const noexcept {
    if (shared_type* const s = begun()) s->front_part().validate();
  }
  shared_type* begun() const noexcept { return shared_.load(order::acquire); }  // sync: installed

  // The calling thread gives its cache up; it may come back. If it was torn out of an operation, by cancellation or pthread_exit
  // in a handler, the cache stays as it is, and is nobody's.
  void leave_thread() noexcept {
    if constexpr (has_caches) {
      cache* const k = here();
      if (k == nobody()) return;
      const bool emptied = begun()->empty(*k);  // a handler that comes now finds it inside, or closed
      signal_fence();
      here() = nobody();
      signal_fence();
      if (emptied) begun()->offer(*k);
    }
  }

  // In the child. Nothing is held across a fork: who forks may wait, in the C library or in another's handler, for what a
  // thread holds that waits for the heap. So where a front has locks, a handler that comes before this may find one that is held
  // by nobody any more; one that came meanwhile would find its thread outside, and wait for a lock that it interrupted.
  void after_fork_child() noexcept {
    shared_type* const s = begun();
    if (!s) return;
    const os::without_signals meanwhile;
    s->after_fork_child(here());
  }

 private:
  POLDER_ALWAYS_INLINE static cache*& here() noexcept { return Host::template current_lab<cache>(); }
  static cache* nobody() noexcept { return &Host::template nobody<cache>; }

  shared_type* shared() noexcept {
    if (shared_type* const known = begun()) [[likely]]
      return known;
    shared_type* mine = nullptr;
    shared_type* const s = install_once(
        shared_, [&mine] { return mine = shared_type::create(Host::configured()); },
        [&mine](shared_type* lost) {
          lost->abandon();
          mine = nullptr;
        });
    if (mine) Host::installed();
    return s;
  }

  // Whether a handler put frees off while its thread was inside.
  POLDER_ALWAYS_INLINE static bool owes(const cache& k) noexcept {
    if constexpr (shared_type::front_type::reentrant) return false;
    else return k.owing;
  }
  POLDER_NOINLINE void settle(cache& k) noexcept { shared_.load(order::relaxed)->settle(k); }
  POLDER_NOINLINE void* settled(cache& k, void* p) noexcept {
    settle(k);
    return p;
  }

  // Runs f(shared, k), with the thread inside k, and leaves.
  template <class R, class F>
  POLDER_ALWAYS_INLINE R within(cache& k, F f) noexcept {
    shared_type& s = *shared_.load(order::relaxed);
    if (s.behind()) [[unlikely]]
      s.catch_up(k);
    const R r = f(s, &k);
    k.exit();
    if (owes(k)) [[unlikely]]
      settle(k);
    return r;
  }

  // The calling thread's cache, entered. Null: none can be had, or it is inside already (a signal handler), or its exit
  // is behind it.
  cache* come_in(shared_type& s) noexcept {
    for (;;) {
      cache* k = here();
      if (k != nobody()) return k->enter() ? k : nullptr;
      if (!Host::may_settle()) return nullptr;
      k = s.acquire();
      if (!k) return nullptr;
      // A signal handler may have settled this thread in the meantime: one compare-and-swap against it.
      if (!replace_own(here(), nobody(), k)) {
        k->close();  // and not emptied: another handler would find this thread outside
        s.offer_as_it_is(*k);
      } else if (!Host::watch_thread_exit()) {
        leave_thread();
        return nullptr;
      }
    }
  }

  // Runs f(shared, cache) inside a cache: the thread's own, or one borrowed for this operation; null where a handler
  // may not use one, or none can be had.
  template <class R, class F>
  POLDER_NOINLINE R with_cache(F f) noexcept {
    shared_type* const s = shared();
    if (!s) return R{};
    if constexpr (!has_caches) {
      no_cache none;
      return f(*s, &none);
    } else {
      if (cache* const k = come_in(*s)) return within<R>(*k, f);
      cache* const before = here();
      if constexpr (!shared_type::front_type::reentrant) {
        if (before != nobody()) {
          const R r = f(*s, nullptr);
          if (s->behind()) before->owing = true;
          return r;
        }
      }
      cache* const k = s->acquire();
      if (!k) return f(*s, nullptr);
      here() = k;  // a handler that comes now finds it, and leaves it as it was
      signal_fence();
      static_cast<void>(k->enter());
      const R r = f(*s, k);
      k->exit();
      if (owes(*k)) settle(*k);
      k->close();
      signal_fence();
      here() = before;
      signal_fence();
      s->offer_as_it_is(*k);
      return r;
    }
  }

  POLDER_NOINLINE void deallocate_inside(void* p) noexcept {
    within<int>(*here(), [&](shared_type& s, cache* k) {
      s.deallocate(k, p);
      return 0;
    });
  }
  POLDER_NOINLINE void finish_inside(void* record) noexcept {
    within<int>(*here(), [&](shared_type& s, cache* k) {
      s.finish(*k, record);
      return 0;
    });
  }
  POLDER_NOINLINE void deallocate_outside(void* p) noexcept {
    if (p == nullptr) return;
    with_cache<int>([&](shared_type& s, cache* k) {
      s.deallocate(k, p);
      return 0;
    });
  }

  // shared_ — the heap, once it is made.
  //   written by  the first thread that allocates; two may race, the loser gives its mapping back
  //   read by     every operation; on the fast paths by who is inside a cache, which came from it
  //   order       installed: everything in it
  //   ABA         no: it changes once
  atomic<shared_type*> shared_;
};

}  // namespace polder::heap
