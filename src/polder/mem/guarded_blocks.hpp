#pragma once
// guarded_blocks — a few blocks that lie alone, each on a page between pages that nobody may touch: an overrun, an underrun or
// a use after the free is a fault at the instruction that does it.
//
//   paper      the technique of electric fences, by sampling (Serebryany et al., ICSE-SEIP 2024, GWP-ASan)
//   progress   take, give: wait-free
//   in malloc  yes; async-signal-safe
//   invariant  a slot's page may be touched exactly while its block is live
//
//        slot 0          slot 1          slot 2
//     ┌───┬───────┬───┬───────┬───┬───────┬───
//     │ ✗ │ block │ ✗ │ block │ ✗ │ block │ ✗ …      ✗: guard page
//     └───┴───────┴───┴───────┴───┴───────┴───
//
// Slots are taken in turn, so that a freed one stays out of use as long as can be. A block lies at the end of its page, or, as
// often, at its beginning; what is left of the page bears a pattern that the free looks at.
//
// Whose a slot's page is: guarded_slot.hpp.
#include <cstddef>
#include <cstdint>

#include <polder/mem/block.hpp>
#include <polder/mem/guarded_slot.hpp>
#include <polder/mem/random.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::mem {

class guarded_blocks {
 public:
  static constexpr unsigned slots = 256;

  // Once, before anybody takes. Where there is no address space or no memory nothing will be guarded.
  void start(std::size_t page, secret s) noexcept;

  // Whether blocks of n bytes are guarded at all.
  bool takes(std::size_t n) const noexcept { return pages_ != nullptr && n <= page_; }

  // A block of n bytes, all zero, aligned as every block is; null: none to be had, or none is guarded.
  void* take(std::size_t n, random& r) noexcept;

  bool has(const void* p) const noexcept { return address(p) - address(pages_) < bytes(); }

  // Does not return if it is not the beginning of a live block, or one whose surroundings were written to.
  void give(const void* p) noexcept;

  // What was asked for it. Does not return if it is not the beginning of a live block.
  std::size_t usable(const void* p) const noexcept;

  std::size_t live_bytes() const noexcept { return live_.load(order::relaxed) * page_; }

  // How many are live, which is what live_bytes() says. While nobody takes or gives.
  std::size_t validate() const noexcept;

  // Why p, which is of these pages, cannot be freed.
  [[noreturn]] void report_free(const void* p) const noexcept;

  // An access at p was a fault. True: it was in these pages, and one line says what it was.
  bool explain(const void* p) const noexcept;

 private:
  std::size_t bytes() const { return pages_ ? (2 * slots + 1) * page_ : 0; }
  std::byte* page_of(unsigned i) const { return pages_ + (2 * std::size_t{i} + 1) * page_; }
  unsigned slot_near(const void* p) const noexcept;
  bool open(std::byte* page) const noexcept;
  void close(std::byte* page) const noexcept;
  void close_by_access(std::byte* page) const noexcept;
  bool surroundings_hold(const guarded_slot& s, const std::byte* page) const noexcept;

  std::byte* pages_ = nullptr;  // null: nothing is guarded
  std::size_t page_ = 0;
  guarded_slot* table_ = nullptr;
  std::uint8_t pattern_ = 0;  // beside blocks
  bool by_marks_ = false;     // MADV_GUARD_INSTALL, else mprotect and two mappings more a live block
  // turn_, live_ — whose turn it is, and how many are live. Relaxed: where a search begins, and a figure.
  atomic<std::uint32_t> turn_;
  atomic<std::uint32_t> live_;
};

}  // namespace polder::mem
