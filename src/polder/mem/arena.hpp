#pragma once
// arena — the heap's address space and the tables that describe it.
//
//   paper      Aigner et al., OOPSLA 2015, sec. 3.2: one arena of 32 TB, spans handed out by moving a frontier
//   progress   lock-free: whoever needs room opens it; two threads may open the same chunk, which is harmless
//   in malloc  yes
//   deviation  of eight times the machine's memory, 32 TiB at most; reserved without access and committed chunk by chunk; a ladder
//              of sizes where the system refuses that; further chunks, mapped one at a time and found by a radix map, where
//              the arena is used up; a chunk can be of a site, and its pages then come from that node as long as it has any
//
// One reservation holds everything, tables first:
//
//     ┌─────────────────┬──────────┬───────────┬─────────────┬─────────────┬────────────────────────────────┐
//     │ … chunk records │ the heap │ summaries │ words, 4 B  │ spans, 64 B │ grains of the main arena …     │
//     │   64 B a chunk  │  itself  │  a bit …  │   a grain   │   a grain   │                                │
//     └─────────────────┴──────────┴───────────┴─────────────┴─────────────┴────────────────────────────────┘
//
// Records are numbered downwards from the heap itself. So what is touched first of the first four lies in one mapping, and one page
// of the system's tables tells of it: a fork copies both.
//
// Chunks are numbered through: first those of the main arena, opened in order, then the extra ones. A table's entry
// may be touched once its chunk is open.
#include <cstddef>
#include <cstdint>

#include <polder/base/align.hpp>
#include <polder/base/bits.hpp>
#include <polder/mem/budget.hpp>
#include <polder/mem/geometry.hpp>
#include <polder/mem/radix_map.hpp>
#include <polder/mem/span.hpp>
#include <polder/mem/word.hpp>
#include <polder/sync/atomic.hpp>
#include <polder/sync/index_stack.hpp>
#include <polder/sync/run_bitmap.hpp>

namespace polder::mem {

enum class page_kind : std::uint8_t {
  small,
  huge,
  small_again,  // part of a huge page went back to the system while the rest is in use
};

struct alignas(cache_line) chunk {
  run_bitmap taken;                // grains in use
  atomic<std::uint64_t> dirty;     // grains that may hold anything but zeroes; means something for free grains
  atomic<std::uint64_t> aged;      // dirty and free since the last decay step at least
  atomic<std::uint64_t> released;  // dirty, free, and left to the kernel (MADV_FREE)
  // site — whose node its pages come from.
  //   written by  in the main arena once, by CAS, before the chunk is open: two openers agree; of an extra chunk by who opens it
  //   read by     whoever searches, after chunk-open or chunk-base
  //   order       relaxed: both edges publish it, and a stale one sends a searcher past the chunk, never astray
  //   ABA         only an extra chunk has a second one, and nobody has its grains in between
  atomic<mem::site> site;
  // kind — whether its memory comes in huge pages: a first touch of either half brings all of it in.
  //   written by  who opens it, in the main arena; who purges, small_again and back
  //   read by     searchers, and who purges
  //   order       relaxed: it decides what is tried first, never whether something is found
  atomic<page_kind> kind;
  // ---- extra chunks only; null and 0 in the main arena
  atomic<std::byte*> base;  // of its grains, once they are there
  plain<std::byte*>
      mapping;  // what was mapped for it, one grain longer than its grains, to align them: written by who
                // opens it, read by who closes it
  // grains — how many it has.
  //   written by  who opens it
  //   read by     who closes it, and before that by all who would like to: try_take_extra
  //   order       relaxed: who has taken them all reads what their opener wrote, after run-give
  //   ABA         a number is closed and opened anew, with fewer or more: hence the second look
  atomic<std::uint32_t> grains;
  atomic<std::uint32_t> next;  // link in the stack of closed numbers: the chunk number + 1
};

#if !defined(POLDER_MODEL)
static_assert(sizeof(chunk) == cache_line);
#endif

class arena {
 public:
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  // The reservation and `front` zeroed bytes at its beginning, in which the caller places an arena (and more); null if
  // even the smallest rung is refused. `wanted` bytes of grains, 0 for the ladder. `page` is what all lengths are
  // multiples of.
  struct reservation {
    std::byte* start = nullptr;
    std::size_t bytes = 0;
    std::byte* front = nullptr;
    std::size_t front_bytes = 0;
    std::size_t arena_bytes = 0;
    chunk_number chunks = 0;  // room in the tables, extra chunks included
    std::size_t page = 0;
    bool limited = false;  // a limit of addresses or data is in force
  };
  static reservation reserve(std::size_t front, std::size_t wanted, std::size_t page) noexcept;
  static void abandon(const reservation& r) noexcept;

  // `r` must be what reserve returned; `map_root` lies in its front and is zeroed (radix_map::root_bytes). The tables of each
  // chunk count against `b`, and what its holders take of it; the front is the caller's to count.
  arena(const reservation& r, std::byte* map_root, budget& b) noexcept;

  std::byte* base() const { return base_; }
  std::size_t bytes() const { return bytes_; }  // of the main arena
  std::size_t page() const { return page_; }
  budget& committed() const { return budget_; }
  const reservation& whole() const { return reservation_; }
  atomic<std::uint32_t>* words() const { return words_; }
  span* spans() const { return spans_; }
  // Of the grain with which a large block's run begins.
  large_run& run_at(grain g) const { return reinterpret_cast<large_run&>(spans_[g]); }
  mem::chunk& chunk(chunk_number c) const { return records_end_[-std::ptrdiff_t{c} - 1]; }
  // Of 64 chunks a bit each: its word, and which it is.
  atomic<std::uint64_t>& summary(chunk_number c) const { return summaries_[c / 64]; }
  static constexpr std::uint64_t summary_bit(chunk_number c) { return std::uint64_t{1} << c % 64; }

  // Chunks in use: [0, main_open()) of the main arena and [main_chunks(), main_chunks() + extra_open()).
  chunk_number main_open() const { return main_open_.load(order::acquire); }  // sync: chunk-open
  chunk_number main_chunks() const { return main_chunks_; }
  chunk_number extra_open() const { return extra_open_.load(order::acquire); }  // sync: chunk-open

  // An extra chunk's tables may be touched before its grains are there.
  bool ready(chunk_number c) const {
    return c < main_chunks_ || chunk(c).base.load(order::acquire) != nullptr;  // sync: chunk-base
  }

  std::byte* address_of(grain g) const {
    const chunk_number c = chunk_of(g);
    if (c < main_chunks_) return base_ + (std::size_t{g} << grain_shift);
    return chunk(c).base.load(order::relaxed) + (std::size_t{position_in_chunk(g)} << grain_shift);
  }

  // The grain that holds p, 0 if none does (grain 0 is never handed out).
  grain find(std::uintptr_t p) const {
    const std::uintptr_t offset = p - address(base_);
    if (offset < bytes_)
      return chunk_of(grain(offset >> grain_shift)) < main_open() ? grain(offset >> grain_shift) : 0;
    const std::uint32_t v = map_.find(p);
    return (v & radix_map::huge_mark) == 0 ? v : 0;
  }

  radix_map& map() { return map_; }
  const radix_map& map() const { return map_; }

  // Makes room for a run of n grains on site s: opens the next chunk, or several when the heap is large or n is. Beyond the
  // main arena n <= grains_per_chunk. Another thread may have been faster, and for another site. False: the system refuses, or
  // the tables would be above the cap.
  // `huge`: ask for huge pages.
  bool open_more(unsigned n, site s = no_site, bool huge = false) noexcept;

  // From now on the chunk, of the main arena, is of this kind.
  void turn(chunk_number c, page_kind to) noexcept;

  // The system has refused huge pages once, so nobody need ask again.
  bool no_huge_pages() const { return no_huge_pages_.load(order::relaxed); }

  // All grains of an extra chunk, if it has any and nobody has one: how many, the caller's now; else 0.
  unsigned try_take_extra(chunk_number c) noexcept;

  // Gives the address space of an extra chunk back, all of whose grains the caller has taken. Its number is used again.
  // False: the system refuses; the chunk is as it was, and its grains are still the caller's.
  bool close_extra(chunk_number c) noexcept;

  // Bytes that may be read and written, tables included; bytes of the tables of open chunks among them.
  std::size_t committed_bytes() const noexcept;
  std::size_t table_bytes() const noexcept;
  // Bytes mapped for extra chunks that are open.
  std::size_t extra_bytes() const noexcept { return extra_bytes_.load(order::relaxed); }

 private:
  std::size_t table_bytes(chunk_number main_open) const noexcept;
  static constexpr std::size_t tables_of_chunk =
      sizeof(mem::chunk) + grains_per_chunk * (sizeof(span) + sizeof(std::uint32_t));
  static constexpr chunk_number chunks_of_tables = 64;  // of the main arena, whose tables are committed together
  bool commit_tables(chunk_number first, chunk_number last) noexcept;
  bool reach_tables(chunk_number last) noexcept;
  bool open_main(unsigned n, site s, bool huge) noexcept;
  bool open_extra(unsigned n, site s) noexcept;
  chunk_number number_for_extra() noexcept;

  reservation reservation_;
  budget& budget_;
  std::byte* base_;
  std::size_t bytes_;
  std::size_t page_;
  chunk_number main_chunks_;
  mem::chunk* records_end_;           // record 0 is the last before it
  atomic<std::uint64_t>* summaries_;  // a bit a chunk: it may have free dirty grains
  atomic<std::uint32_t>* words_;
  span* spans_;

  // main_open_, extra_open_ — how many chunks may be touched.
  //   written by  whoever opened one, by CAS; they only grow
  //   read by     anyone who searches
  //   order       chunk-open: the opener committed the table entries, and in the main arena the memory, before the
  //                 release; a reader's acquire makes them safe to touch
  //               chunk-base (chunk::base): the grains of an extra chunk are mapped and found by the map
  //   ABA         monotonic
  alignas(false_sharing_range) atomic<chunk_number> main_open_;
  atomic<chunk_number> extra_open_;
  // tables_open_ — for how many chunks of the main arena the tables are committed, open or not.
  //   written by  openers, by CAS; it only grows
  //   read by     openers
  //   order       tables-open: who committed them releases; who finds them committed acquires, so that what its own
  //                 chunk-open publishes holds of them, too
  //   ABA         monotonic
  atomic<chunk_number> tables_open_;
  // extra_bytes_ — mapped for extra chunks, and not given back.
  //   written by  who opens one, and who closes one
  //   order       relaxed: a figure
  atomic<std::size_t> extra_bytes_{};
  atomic<bool> no_huge_pages_{};
  index_stack closed_;  // numbers of extra chunks without grains, each + 1
  radix_map map_;
};

}  // namespace polder::mem
