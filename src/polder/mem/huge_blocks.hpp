#pragma once
// huge_blocks — blocks longer than any run, and blocks that grow: a mapping each, found by the radix map, kept for a
// while after the free.
//
//   paper      none: scalloc and LRMalloc map and unmap every such block
//   progress   lock-free, but for the system calls themselves
//   in malloc  yes
//   invariant  a number is in exactly one place: with the block's user, in the cache, or in one of the stacks
//
// A block that grows has the front of the longest cached mapping. What was cut off behind stays in the cache, ages there like
// all else, and may go to others; if it is still there when the block has grown so far, it is the block's again, where it
// lies, without a system call or a page fault, as it is when the block is freed. So fronts and rests do not fray the cache.
#include <cstddef>
#include <cstdint>

#include <polder/base/bits.hpp>
#include <polder/base/config.hpp>
#include <polder/mem/budget.hpp>
#include <polder/mem/radix_map.hpp>
#include <polder/mem/record_table.hpp>
#include <polder/sync/index_stack.hpp>

namespace polder::mem {

class huge_blocks {
 public:
  struct block_info {
    std::byte* p = nullptr;  // what the user got; null: none
    bool zero = false;
  };

  // How many there may be at a time, in tables of 1,024: 2^20, or 2^26 where blocks are huge ones that are not large.
  enum class most : std::uint32_t { some = 1u << 10, many = 1u << 16 };

  // Bytes of zeroed memory, aligned to a cache line, for the directory of records; not touched before it is used.
  static constexpr std::size_t directory_bytes = std::size_t(most::some) * sizeof(void*);
  static constexpr std::size_t directory_bytes_of_many = std::size_t(most::many) * sizeof(void*);

  // `map` may hold other values beside: those of huge blocks are marked. Lengths are multiples of `page`. huge_pages: ask
  // for them where a block that grows has `worth_huge_pages` or more, for it is written from end to end; or will have, and
  // the heap is large. Whole mappings count against `b`, live or cached. while_unwanted: so many bytes are kept in any case, until
  // give_way() or a new mapping would bring the heap above its peak.
  huge_blocks(radix_map& map, std::size_t page, std::byte* directory, budget& b, bool huge_pages = false,
              most m = most::some, std::size_t while_unwanted = 0) noexcept
      : map_(map),
        page_(page),
        huge_pages_(huge_pages),
        while_unwanted_(while_unwanted),
        budget_(b),
        records_(directory, std::uint32_t(m)) {}

  // At least n bytes at a multiple of `alignment`; null when the system refuses, or the cap does.
  block_info take(std::size_t n, std::size_t alignment) noexcept { return take(n, alignment, false); }

  // The same for a block that has grown to n bytes, and will grow again: with room, and in huge pages.
  block_info take_to_grow(std::size_t n) noexcept { return take(n, min_alignment, true); }

  // Number of the live huge block that begins at p, 0 if there is none.
  std::uint32_t find(const void* p) const noexcept;
  std::size_t usable(std::uint32_t number) const noexcept;

  // Whether block `number` can have been asked for with n bytes. Its mapping may be much longer than n: none is shorter
  // than `shortest`, and one from the cache has its own length.
  bool suits(std::uint32_t number, std::size_t n) const noexcept {
    return records_.at(number).asked.get() <= n && n <= usable(number);
  }

  // The block stays as it is, and its user means n bytes of it from now on.
  void shrink(std::uint32_t number, std::size_t n) noexcept { records_.at(number).asked.set(n); }

  // Takes block `number` back. False: somebody else freed it first.
  bool give(std::uint32_t number, const void* p) noexcept;

  // For messages: whether p began a block whose mapping is in the cache.
  bool is_cached(const void* p) const noexcept;

  // Grows or shrinks in place or by moving pages: the new address, null if the system or the cap refuses (nothing changed).
  std::byte* resize(std::uint32_t number, const void* p, std::size_t n) noexcept;

  // Gives cached mappings back that were there at the step before, or all. Bytes. What the system once would not take back is
  // offered to it again, a few of them or all.
  std::size_t purge(bool all) noexcept;

  // The same, but for what the system would not take back: for who comes by often.
  std::size_t purge_cache(bool all) noexcept;

  // For heaps that have no clock of their own: takes a step of purge(false) each half `milliseconds`, by whoever comes first. So
  // a mapping that nobody wanted for that time goes, while somebody comes by.
  void age(std::uint32_t milliseconds) noexcept {
    if (cached_bytes() != 0 || !stuck_.empty()) [[unlikely]]
      take_a_step(milliseconds);
  }

  // Gives cached mappings back until no more are kept than is worth it beside what is live by now: much may have been freed since
  // they were.
  void fit_cache() noexcept;

  // Others have had memory of the system: the same, where that has brought the heap to a new peak.
  void give_way() noexcept {
    if (keeps_more_than_usual() && budget_.used() >= budget_.peak()) [[unlikely]]
      fit_cache();
  }

  // No block is shorter: the map knows one by the granule it begins in, so no two may begin in one. What is not touched
  // costs no memory.
  static constexpr std::size_t shortest = 64 * KiB;

  // Freed mappings beyond this many bytes are unmapped at once, unless the heap is large beside them (worth_keeping); and all
  // of them above cap or target. More is kept while nobody wants memory, if the heap says so (while_unwanted).
  static constexpr std::size_t cache_bytes = 32 * MiB;

  static constexpr std::size_t huge_page = 2 * MiB;
  static constexpr std::size_t worth_huge_pages = 2 * MiB;
  static constexpr std::size_t large_heap = 8 * MiB;

#if POLDER_CHECK_LEVEL >= 2
  // For tests, while nobody takes or gives: traps if a number is not in exactly one place, or what is known of one is not so.
  void validate() const noexcept;
#endif

  std::size_t live_bytes() const noexcept { return live_.load(order::relaxed); }
  std::size_t cached_bytes() const noexcept { return cached_.load(order::relaxed); }

 private:
  struct alignas(cache_line) record {
    atomic<std::uintptr_t> user;  // address of the live block, 0: none
    plain<std::byte*> base;       // of the mapping: written by whoever holds the number
    plain<std::size_t> bytes;     // of the mapping
    plain<std::size_t> asked;     // by the block's user
    plain<std::uint32_t> rest;    // had once the number of what was cut off behind; 0: nothing was
    atomic<std::uint32_t> next;   // in a stack of numbers
  };

  // One of the freed mappings: its number, its length in pages, and whether a decay step has seen it. Longer ones are not kept.
  struct cached {
    static constexpr std::size_t most_pages = (std::size_t{1} << 31) - 1;
    static constexpr std::uint64_t aged_bit = std::uint64_t{1} << 63;
    static std::uint64_t make(std::uint32_t number, std::size_t pages) {
      return std::uint64_t(pages) << 32 | number;
    }
    static std::uint32_t number(std::uint64_t v) { return std::uint32_t(v); }
    static std::size_t pages(std::uint64_t v) { return (v & ~aged_bit) >> 32; }
  };

  std::uint32_t new_number() noexcept;
  void retire_number(std::uint32_t number) noexcept;
  bool publish(std::uint32_t number, std::uintptr_t user) noexcept;
  block_info take(std::size_t n, std::size_t alignment, bool grows) noexcept;
  bool uncache(atomic<std::uint64_t>& slot, std::uint64_t v) noexcept;
  bool uncache(std::uint32_t number) noexcept;
  bool keeps_more_than_usual() const noexcept { return while_unwanted_ != 0 && cached_bytes() > cache_bytes; }
  void keep_or_unmap(std::uint32_t number) noexcept;
  std::size_t worth_keeping(std::size_t cached) const noexcept;
  std::uint32_t take_cached(std::size_t bytes) noexcept;
  std::uint32_t take_front(std::size_t bytes) noexcept;
  void rejoin(std::uint32_t number, std::size_t wanted) noexcept;
  void* reserve_at_huge_page(std::size_t bytes) noexcept;
  std::byte* map(std::size_t bytes, bool in_huge_pages) noexcept;
  static std::byte* map_at_multiple(std::size_t bytes, std::size_t alignment) noexcept;
  void make_room(std::size_t bytes) noexcept;
  std::size_t roomy(std::size_t bytes) const noexcept;
  std::byte* move(std::uint32_t number, std::uintptr_t user, std::size_t bytes, bool at_huge_page) noexcept;
  std::byte* move_to(std::byte* base, std::uint32_t number, std::uintptr_t user, std::size_t bytes) noexcept;
  std::byte* move_anywhere(std::uint32_t number, std::uintptr_t user, std::size_t bytes) noexcept;
  void unmap(std::uint32_t number) noexcept;
  bool let_go(std::uint32_t number) noexcept;
  std::uint32_t take_stuck(std::size_t bytes) noexcept;
  void offer_stuck(bool all) noexcept;
  void take_a_step(std::uint32_t milliseconds) noexcept;
  auto links() noexcept {
    return [this](std::uint32_t n) -> atomic<std::uint32_t>& { return records_.at(n).next; };
  }

  static constexpr unsigned cache_slots = 32;
  static constexpr unsigned few = 8;  // of the mappings that the system would not take back: looked at at a time

  radix_map& map_;
  std::size_t page_;
  bool huge_pages_;
  std::size_t while_unwanted_;
  budget& budget_;
  record_table<record, 1024, std::uint32_t(most::many)> records_;
  index_stack free_numbers_;
  index_stack stuck_;  // numbers of mappings that the system would not take back: empty of pages, used first
  // cache_ — freed mappings.
  //   written by  who frees (0 → entry), who takes, ages or purges (entry → …), each by CAS
  //   order       huge-cache: the freer's writes to the record are seen by the taker
  //   ABA         harmless: an entry that is there again is in the cache again
  atomic<std::uint64_t> cache_[cache_slots];
  // ends_stay_ — the system once refused to take back the ends of a reservation: none is made any more that has to be cut.
  //   written by  who was refused
  //   read by     who moves a block
  //   order       relaxed: who does not know yet loses the address space of two ends more
  atomic<bool> ends_stay_;
  // last_step_ — when age() last took one, in milliseconds; 0: nobody has looked at the clock.
  //   written by  whoever finds that it is time, by CAS
  //   read by     who comes by
  //   order       relaxed: it says who takes the step, and nothing else
  //   ABA         no: time goes forwards
  atomic<std::uint64_t> last_step_;
  atomic<std::size_t> live_;
  atomic<std::size_t> cached_;
};

}  // namespace polder::mem
