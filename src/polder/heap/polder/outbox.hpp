#pragma once
// outbox — blocks of other LABs, waiting to be sent home in one go.
//
//   paper      Liétar et al., ISMM 2019 (snmalloc) sends frees in batches; here a slot an owner instead of buckets
//   progress   wait-free, owner only
//   in malloc  yes
//   bound      max_held, and one block more
#include <bit>
#include <cstdint>

#include <polder/mem/block.hpp>
#include <polder/mem/signposts.hpp>
#include <polder/mem/word.hpp>

namespace polder::heap {

class outbox {
 public:
  static constexpr unsigned slots = 64;
  static constexpr std::uint32_t max_bytes = 8 * 1024;  // of a list
  static constexpr std::uint32_t max_blocks = 64;
  static constexpr std::uint32_t max_held = 64 * 1024;  // bytes of all

  struct list {
    mem::lab_number owner;
    std::uint32_t count;
    std::uint32_t bytes;
    std::uint32_t smallest;  // block
    mem::block* first;
    mem::block* last;
  };

  // Adds a block of `size` bytes. send(list) is called for what must go before or because of it.
  template <class Send>
  POLDER_ALWAYS_INLINE void add(mem::lab_number owner, mem::block* b, std::uint32_t size, mem::secret s,
                                Send&& send) {
    const unsigned slot = owner % slots;
    list& l = lists_[slot];
    if (l.count != 0 && l.owner != owner) flush(slot, send);
    if (l.count == 0) {
      l.owner = owner;
      l.smallest = size;
      l.last = b;
      used_ |= std::uint64_t{1} << slot;
    }
    b->set_link(l.first, s);
    l.first = b;
    ++l.count;
    l.bytes += size;
    if (size < l.smallest) l.smallest = size;
    held_ += size;
    if (l.bytes >= max_bytes || l.count >= max_blocks) flush(slot, send);
    else if (held_ > max_held) flush_all(send);
  }

  template <class Send>
  void flush_all(Send&& send) {
    while (used_ != 0) flush(unsigned(std::countr_zero(used_)), send);
  }

  bool empty() const { return used_ == 0; }

 private:
  template <class Send>
  void flush(unsigned slot, Send& send) {
    const list full = lists_[slot];
    lists_[slot] = {};
    used_ &= ~(std::uint64_t{1} << slot);
    held_ -= full.bytes;
    if (full.smallest >= mem::posted_block::least && full.count > 2) mem::put_up_signposts<max_blocks>(full.first);
    send(full);
  }

  std::uint64_t used_ = 0;  // slots with a list
  std::uint32_t held_ = 0;  // bytes
  list lists_[slots] = {};
};

}  // namespace polder::heap
