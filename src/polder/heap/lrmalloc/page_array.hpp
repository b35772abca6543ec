#pragma once
// page_array — the page map as one flat array over the whole address space: a word a page, 512 GiB for 2^48 bytes.
//
//   paper      Leite & Rocha 2018, sec. 3.3: what the published LRMalloc uses, in a system that overcommits
//   progress   find wait-free, one load after two comparisons; row lock-free
//   in malloc  yes
//   deviation  reserved without access, and only the part that describes a window of addresses, from the lowest superblock
//              to the highest, can be read and written. So mlockall does not fill 512 GiB, a core dump does not hold
//              them, a strict system does not count them; and it is safe to ask for a wild pointer. Where the system refuses
//              the reservation (a limit on address space, say), a page_tree serves instead; so it does for a superblock so far from
//              the others that the system refuses what lies between (a limit on data, say)
//   invariant  words of pages in the window may be read; the window only grows; of a superblock the words stand in one of both
#include <cstddef>
#include <cstdint>

#include <polder/heap/lrmalloc/page_tree.hpp>
#include <polder/os/pages.hpp>

namespace polder::heap::lrmalloc {

class page_array {
 public:
  bool begin() noexcept {
    words_ = static_cast<atomic<page_word>*>(os::reserve(array_bytes));
    if (words_) static_cast<void>(os::keep_in_core_dumps(words_, array_bytes, false));
    return true;
  }
  void end() noexcept {
    if (words_) os::unmap(words_, array_bytes);
    instead_.end();
  }

  POLDER_ALWAYS_INLINE page_word find(const void* p) const noexcept {
    const std::size_t page = address(p) >> page_shift;
    if (page < high_.load(order::acquire) && page >= low_.load(order::acquire)) [[likely]] {  // sync: page-window
      const page_word w = words_[page].load(order::relaxed);
      if (w) [[likely]]
        return w;
    }
    return instead_.find(p);
  }

  // Where the words of `superblock` are, for as long as one of them is set; null: no memory, or beyond the map.
  page_row row(const std::byte* superblock) noexcept {
    if (!words_ || instead_.find(superblock)) return instead_.row(superblock);
    const std::size_t page = address(superblock) >> page_shift;
    return page >= step_pages && page < array_pages && reach(page) ? words_ + page  // a low_ of 0 is none
                                                                   : instead_.row(superblock);
  }

  // Address space taken, and what of it may be written.
  std::size_t reserved_bytes() const noexcept { return (words_ ? array_bytes : 0) + instead_.reserved_bytes(); }
  std::size_t mapped_bytes() const noexcept {
    const std::size_t high = high_.load(order::relaxed), low = low_.load(order::relaxed);
    return (high > low ? (high - low) * sizeof(page_word) : 0) + instead_.mapped_bytes();
  }
  bool is_flat() const noexcept { return words_ != nullptr; }

 private:
  static constexpr std::size_t array_pages = std::size_t{1} << (map_address_bits - page_shift);
  static constexpr std::size_t array_bytes = array_pages * sizeof(page_word);
  // The window grows by 64 KiB of words, a page wherever pages are larger than 4 KiB: 32 MiB of addresses.
  static constexpr std::size_t step_pages = 64 * KiB / sizeof(page_word);

  bool commit(std::size_t from, std::size_t to) noexcept {
    return os::commit(words_ + from, (to - from) * sizeof(page_word));
  }

  // Takes the page into the window. False: the system refuses.
  bool reach(std::size_t page) noexcept {
    const std::size_t from = align_down(page, step_pages), to = from + step_pages;
    std::size_t low = low_.load(order::acquire);  // sync: page-window
    while (low == 0 || from < low) {
      if (low != 0 && !commit(from, low)) return false;
      if (low_.cas(low, from, order::release, order::acquire)) {  // sync: page-window
        low = from;
        break;
      }
    }
    std::size_t high = high_.load(order::acquire);  // sync: page-window
    while (to > high) {
      if (!commit(high != 0 ? high : low, to)) return false;  // `low` was the window's low end, or is above it now
      if (high_.cas(high, to, order::release, order::relaxed)) break;  // sync: page-window
    }
    return true;
  }

  atomic<page_word>* words_ = nullptr;  // constant once it was begun; null: refused
  // high_, low_ — the window, in pages: [low_, high_); none while high_ is 0.
  //   written by  who has a superblock outside it, by CAS. Once they are not 0, low_ only falls and high_ only rises
  //   read by     anyone who looks a pointer up
  //   order       page-window: the memory was made accessible before the CAS that takes it in; low_ is set before high_.
  //                 Both are read one after the other: whatever was between, they enclose a part of the window. Who
  //                 takes a part in made it accessible itself, so it acquires only what it finds to be in already
  //   ABA         no: monotonic
  atomic<std::size_t> high_;
  atomic<std::size_t> low_;
  page_tree instead_;
};

}  // namespace polder::heap::lrmalloc
