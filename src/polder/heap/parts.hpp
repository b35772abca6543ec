#pragma once
// parts — what a heap of parts is made of: a sheet names its front, and the front does what only that heap does.
//
// A sheet is a struct of `using` lines and constants:
//
//   static constexpr heap_info info            what the catalogue says
//   static constexpr tunable tunables[]        options that only this heap has; may be absent
//   using front                                size classes, who finds a block's class, where its memory comes from
//
// Everything that is the same for all of them is in heap.hpp.
#include <concepts>
#include <cstddef>
#include <cstdint>

#include <polder/heap/cache.hpp>
#include <polder/heap/high_water.hpp>
#include <polder/heap/info.hpp>
#include <polder/heap/options.hpp>
#include <polder/heap/statistics.hpp>
#include <polder/mem/block.hpp>
#include <polder/mem/huge_blocks.hpp>
#include <polder/mem/misuse.hpp>
#include <polder/mem/radix_map.hpp>

namespace polder::heap {

// What a front is told when it is made.
struct heap_setting {
  const options& asked;       // asked.tuned: this heap's own options, in the order of its tunables
  std::size_t page = 0;       // bytes; every length asked of the system is a multiple of it
  mem::secret secret = 0;     // for the keys of free blocks (mem/block.hpp)
  mem::radix_map& addresses;  // from granules of 64 KiB to numbers without huge_mark: the front may use it
  high_water& memory;         // the front says here what it takes of the system, and what it gives back

  // Blocks beyond the size classes, whose cached mappings age when somebody comes by. Where malloc must call allocate() after
  // allocate_at_once(), that is seen to; a front without the latter calls age() when it goes for more than a block.
  mem::huge_blocks& large;
};

// What a front knows of an address.
struct block_info {
  unsigned cls = 0;            // size class of the blocks there; 0: no block of a size class lies there
  bool within = false;         // the address lies in memory of this front all the same
  const void* span = nullptr;  // where its span or superblock begins, for messages
  unsigned owner = 0;          // whose it is, where that means something; for messages
  void* record = nullptr;      // the front's own: descriptor, span …
};

template <class C>
concept size_classes = requires(std::size_t n, unsigned c) {
  { C::count } -> std::convertible_to<unsigned>;   // classes are 1 … count
  { C::of(n) } -> std::same_as<unsigned>;          // the smallest that holds n bytes (0 counts as 1); 0: none
  { C::aligned(n, n) } -> std::same_as<unsigned>;  // the same with an alignment above 16; 0: none
  { C::block_size[c] } -> std::convertible_to<std::size_t>;  // bytes that the user may use
  { C::keeps(c, n) } -> std::same_as<bool>;                  // realloc leaves n bytes in a block of class c
};

enum class freed : std::uint8_t {
  not_yet,       // nothing was done: deallocate() must see
  all_but_rest,  // the block is free; finish() must see
  all,
};

// Beside what a front must have, some things that it may:
//
//   allocate_at_once(k, c)          a block that is had without a call of a function; null: allocate() must see
//   deallocate_at_once(k, p, b)     the same of a free, as far as `freed` says. With both the fast paths of malloc and free
//                                   need no stack frame
//   finish(k, record)               what deallocate_at_once() left of a free, if it ever does: of the record in b
//   check(p, b)                     does not return unless somebody holds the block at p, of class b.cls != 0: for realloc
//                                   and malloc_usable_size, which would not look otherwise
//   static constexpr bool spills    true: a block that allocate() refuses is had as a huge one
template <class F>
concept front =
    size_classes<typename F::size_classes> && std::derived_from<typename F::cache, cache_header> &&
    std::constructible_from<F, const heap_setting&> &&
    requires(F& f, const F& seen, typename F::cache& k, unsigned c, void* p, block_info b, statistics& s) {
      // Whether a signal handler that interrupted a thread inside may use another cache at once. False: it
      // is served from huge blocks, and what it frees waits until the thread is outside.
      { F::reentrant } -> std::convertible_to<bool>;
      { f.begin() } -> std::same_as<bool>;           // once, before any other thread knows of it; false: refused
      f.end();                                       // the same, after begin(): another thread was first
      { f.allocate(k, c) } -> std::same_as<void*>;   // a block of class c; null: the system refused
      { seen.find(p) } -> std::same_as<block_info>;  // of any address whatever
      f.deallocate(k, p, b);                         // b.cls != 0; does not return from a misuse
      f.leave(k);                                    // its thread ends: what it holds goes where others find it
      { f.trim(&k) } -> std::same_as<std::size_t>;   // bytes given back to the system; &k may be null
      seen.add_to(s);        // all but `allocated`, which is counted in caches; without caches that too
      f.after_fork_child();  // in the child; nothing was locked before: a lock may be held by this thread, interrupted
                             // inside, or by one that is gone
      seen.validate();       // nobody is inside: traps where an invariant is broken
    };

// Says why p cannot be freed, and aborts. `b` is what the front's find() says of p; `free`: its block is free already.
[[noreturn]] void report_free(const void* p, block_info b, std::size_t block_size, bool free,
                              const char* remark = nullptr) noexcept;

}  // namespace polder::heap
