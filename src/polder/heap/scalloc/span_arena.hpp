#pragma once
// span_arena — one address range, cut into virtual spans of one size.
//
//   paper      Aigner et al. 2015, sec. 3.2, figure 1: 32 TB by one mmap, virtual spans of 2 MB, a new one is a bump
//   progress   lock-free: whoever needs room opens it; two threads may open the same spans, which is harmless
//   in malloc  yes
//   invariant  taken() <= opened(); what is opened has a readable header, all zero (`expected`) until it is taken
//   deviation  reserved without access, and opened some spans at a time; a ladder of sizes where the system refuses 32 TiB.
//              Where it gives so little that there would be fewer than 2^16 virtual spans, they shrink, to 256 or 64 KiB
//              at the least, and real spans fill them (size_classes.hpp · span_cuts); blocks that do not fit are then
//              mapped one by one, as those above 1 MiB are.
//              Inaccessible pages between real spans cost two mappings a span, of which Linux allows 65,530: so they are
//              an option (`protect`), where the paper says that unused memory "is still protected"
//
//     ┌───────────────────────┬───────────────────────┬── ── ──┬───────────────────────────────┐
//     │ virtual span 1        │ virtual span 2        │        │ reserved, no access           │
//     │▓▓▓▓▓▓ real span       │▓▓▓▓▓▓▓▓▓▓▓ real span  │        │                               │
//     └───────────────────────┴───────────────────────┴── ── ──┴───────────────────────────────┘
//     base                                              taken ≤ opened                        base + bytes
#include <cstddef>
#include <cstdint>

#include <polder/base/align.hpp>
#include <polder/heap/scalloc/span.hpp>

namespace polder::heap::scalloc {

class span_arena {
 public:
  struct setting {
    std::size_t bytes = 0;                // 0: the ladder from 32 TiB
    std::size_t virtual_span = 2u << 20;  // at most
    std::size_t page = 4096;
    bool protect = false;           // what no real span uses stays inaccessible
    bool huge_pages = false;        // ask for transparent huge pages, or against them
    bool leave_huge_pages = false;  // ask for neither
  };
  bool reserve(const setting& s) noexcept;
  void abandon() noexcept;

  std::byte* base() const { return base_; }
  std::size_t bytes() const { return bytes_; }
  std::size_t virtual_span() const { return std::size_t{1} << shift_; }
  std::size_t page() const { return setting_.page; }

  span& at(span_number n) const { return *reinterpret_cast<span*>(base_ + (std::size_t{n - 1} << shift_)); }

  // The span in whose virtual span p lies; null: p is not in the arena, or nothing was ever there.
  span* find(const void* p) const noexcept {
    if (address(p) - address(base_) >= opened_bytes_.load(order::acquire)) return nullptr;  // sync: span-opened
    return reinterpret_cast<span*>(address(p) & mask_);
  }

  // A span that was never used, with room for `real` bytes; null: the system refuses, or the arena is used up.
  span* take(std::size_t real) noexcept;

  // Lets the first `real` bytes of s be touched. By who has s alone. False: refused.
  bool make_readable(span& s, std::size_t real) noexcept;

  // Drops what lies in [from, s.dirty). Bytes that were dropped.
  std::size_t discard(span& s, std::size_t from) noexcept;

  span_number taken() const noexcept { return taken_.load(order::acquire); }  // sync: span-opened
  std::size_t readable_bytes() const noexcept;

 private:
  bool open_beyond(span_number n) noexcept;  // false: the system refuses, or there is no more room
  span_number opened() const noexcept {
    return span_number(opened_bytes_.load(order::acquire) >> shift_);  // sync: span-opened
  }
  std::size_t least_readable() const noexcept;
  void opened_from(span_number first, span_number count) noexcept;
  void open_all() noexcept;

  setting setting_;
  std::byte* start_ = nullptr;  // of the reservation
  std::size_t reserved_ = 0;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::uintptr_t mask_ = 0;  // of what tells virtual spans apart; base_ is aligned to them
  unsigned shift_ = 0;
  span_number room_ = 0;

  // opened_bytes_, whole_, taken_ — how far spans have a readable header, how many are readable as a whole, how many have
  // been taken.
  //   written by  whoever opens or takes one, by CAS; they only grow. whole_ stands still once a span was opened in part
  //   read by     everybody
  //   order       span-opened: the header was made readable before. span-whole: so was the rest, by whoever it was: one
  //                 may open a span in part while another opens the whole of it
  //   ABA         monotonic
  atomic<std::size_t> opened_bytes_;
  alignas(false_sharing_range) atomic<span_number> whole_;
  atomic<span_number> taken_;
  atomic<std::size_t> charged_;  // bytes of real spans that were taken, for limits set later. Relaxed: a sum
  atomic<std::size_t> grown_;    // bytes that spans opened in part were let grow by. Relaxed: a sum
};

}  // namespace polder::heap::scalloc
