#pragma once
// tracked — a heap that tells a memory checker of the life of each block: what the program may touch, and what no longer.
//
//   progress   as the heap's; no fast path is taken
//   in malloc  as the heap, if the tracker may run there
//
// A block of n bytes, in one of the heap's that holds more:
//
//     ┌──────────────────────────┬───────────────┬──────┐
//     │ n bytes: the program's   │     slack     │ note │      the program may touch the n bytes, nobody else's are right
//     └──────────────────────────┴───────────────┴──────┘
//
// One that is freed waits (mem/delay_ring.hpp), all of it forbidden, before the heap has it back: until then whoever touches
// it is seen. What the heap has it may touch, so no part of it knows of this. realloc always moves, so that the old address is
// wrong at once; and every size is exact.
//
// Tracker, an object for each heap that begins as all zeroes:
//   born(p, n, held, zeroed)  of the `held` bytes at p, n are a block from now on, and the rest is out of bounds
//   shrank(p, n, had, held)   the block, which was of `had` bytes, is of n from now on, no more than before
//   died(p, held)             the block was freed, or freed again
//   resumed(p, held)          it is the heap's again
//   quiet                     while one lives, what the calling thread touches is no mistake
//   arena_size                address space to reserve when nobody asks for another size; 0: as ever
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <polder/base/align.hpp>
#include <polder/base/bits.hpp>
#include <polder/base/config.hpp>
#include <polder/mem/delay_ring.hpp>
#include <polder/mem/misuse.hpp>
#include <polder/os/pages.hpp>

namespace polder::heap {

template <class Heap, class Tracker>
class tracked : public Heap {
 public:
  static constexpr std::size_t usual_arena_size = Tracker::arena_size;

  constexpr tracked() noexcept = default;

  template <auto missed>
  void* allocate_or(std::size_t n) {
    return missed(n, false);
  }
  template <auto missed>
  void* allocate_zeroed_or(std::size_t n) {
    return missed(n, false);
  }
  void* allocate_missed(std::size_t n, bool) noexcept { return allocate(n); }
  void* allocate_zeroed_missed(std::size_t n, bool) noexcept { return allocate_zeroed(n); }

  void* allocate(std::size_t n) noexcept {
    return begin(n, false, [this](std::size_t bytes) { return Heap::allocate(bytes); });
  }
  void* allocate_zeroed(std::size_t n) noexcept {
    return begin(n, true, [this](std::size_t bytes) { return Heap::allocate_zeroed(bytes); });
  }
  void* allocate_aligned(std::size_t alignment, std::size_t n) noexcept {
    return begin(n, false, [=, this](std::size_t bytes) { return Heap::allocate_aligned(alignment, bytes); });
  }
  std::size_t allocate_batch(std::size_t n, std::size_t count, void** out) noexcept {
    std::size_t had = 0;
    while (had < count && (out[had] = allocate(n)) != nullptr) ++had;
    return had;
  }

  void* reallocate(void* p, std::size_t n) noexcept {
    const life l = look(p);
    void* const q = allocate(n);
    if (q == nullptr) return n <= l.asked ? shrunk(p, n, l) : nullptr;  // a shrink cannot fail
    __builtin_memcpy(q, p, std::min(n, l.asked));
    end(p, l);
    return q;
  }

  void deallocate(void* p) noexcept {
    if (p != nullptr) end(p, look(p));
  }
  void deallocate_sized(void* p, std::size_t n) noexcept {
    if (p != nullptr) end_if(p, [n](const life& l) { return l.asked == n; });
  }
  void deallocate_aligned_sized(void* p, std::size_t alignment, std::size_t n) noexcept {
    end_if(p, [=](const life& l) {
      return l.asked == n && (!is_power_of_two(alignment) || is_aligned(address(p), alignment));
    });
  }
  void deallocate_batch(void** blocks, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) deallocate(blocks[i]);
  }

  std::size_t usable_size(const void* p) noexcept { return look(p).asked; }

 private:
  using quiet = typename Tracker::quiet;

  // At the end of the heap's block.
  struct note {
    static constexpr std::uintptr_t lives = 0x706f6c6465722131, waits = 0x706f6c6465722132;

    std::size_t asked;
    std::uintptr_t seal;  // of all the rest, so that nothing else is taken for one

    std::uintptr_t sealed(std::uintptr_t as) const { return address(this) ^ asked ^ as; }
    void write(std::size_t n) {
      asked = n;
      seal = sealed(lives);
    }
  };
  static_assert(sizeof(note) == min_alignment);

  struct life {
    std::size_t asked, held;
    note* at;
  };

  static note* note_of(const void* p, std::size_t held) {
    return reinterpret_cast<note*>(address(p) + held - sizeof(note));
  }

  template <class Take>
  POLDER_ALWAYS_INLINE void* begin(std::size_t n, bool zeroed, Take take) noexcept {
    if (n > PTRDIFF_MAX) return nullptr;
    void* p = nullptr;
    std::size_t held = 0;
    {
      const quiet q;
      p = take(n + sizeof(note));
      if (p == nullptr) return nullptr;
      held = Heap::usable_size(p);
      note_of(p, held)->write(n);
    }
    tracker_.born(p, n, held, zeroed);
    return p;
  }

  void* shrunk(void* p, std::size_t n, const life& l) noexcept {
    {
      const quiet q;
      l.at->write(n);
    }
    tracker_.shrank(p, n, l.asked, l.held);
    return p;
  }

  // Does not return if p is no live block.
  life look(const void* p) noexcept {
    life l{};
    bool waits = false;
    {
      const quiet q;
      l.held = Heap::usable_size(p);  // which says itself what was never a block
      if (l.held < sizeof(note)) mem::report(mem::misuse::foreign_pointer, p, {.remark = "there is no heap yet"});
      l.at = note_of(p, l.held);
      l.asked = l.at->asked;
      if (l.at->seal == l.at->sealed(note::lives)) return l;
      waits = l.at->seal == l.at->sealed(note::waits);
    }
    if (!waits) mem::report(mem::misuse::corrupted, p, {.remark = "overrun: what lies behind it was written to"});
    tracker_.died(const_cast<void*>(p), l.held);  // the tool may know who freed it first
    mem::report(mem::misuse::double_free, p);
  }

  template <class Suits>
  void end_if(void* p, Suits suits) noexcept {
    const life l = look(p);
    if (!suits(l))
      mem::report(mem::misuse::size_mismatch, p,
                  {.remark = "the size or alignment it is freed with was never asked for"});
    end(p, l);
  }

  void end(void* p, const life& l) noexcept {
    {
      const quiet q;
      l.at->seal = l.at->sealed(note::waits);
    }
    tracker_.died(p, l.held);
    const quiet q;
    waiting_.put(p, l.held, [this](void* block) { return give_back(block); });
  }

  std::size_t give_back(void* p) noexcept {
    const std::size_t held = Heap::usable_size(p);
    tracker_.resumed(p, held);
    wipe(p, held);  // no stale pointer in it keeps a leaked block alive
    Heap::deallocate(p);
    return held;
  }

  static void wipe(void* p, std::size_t bytes) noexcept {
    constexpr std::size_t worth_a_call = 256 * KiB;
    const std::uintptr_t begin = address(p), end = begin + bytes;
    const std::uintptr_t from = align_up(begin, os::page_size()), to = align_down(end, os::page_size());
    if (bytes < worth_a_call || os::discard_now(at_address(from), to - from) != os::discarded::zeroed)
      return static_cast<void>(__builtin_memset(p, 0, bytes));
    __builtin_memset(p, 0, from - begin);
    __builtin_memset(at_address(to), 0, end - to);
  }

  mem::delay_ring waiting_;
  [[no_unique_address]] Tracker tracker_;
};

}  // namespace polder::heap
