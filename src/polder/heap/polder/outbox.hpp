#pragma once
// outbox — blocks of other LABs, waiting to be sent home in one go.
//
//   paper      Liétar et al., ISMM 2019 (snmalloc) sends frees in batches; here a slot an owner instead of buckets
//   progress   wait-free, owner only
//   in malloc  yes
//   bound      max_held, and one block more
#include <bit>
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/heap/polder/links.hpp>
#include <polder/mem/block.hpp>
#include <polder/mem/signposts.hpp>
#include <polder/mem/word.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::heap {

class outbox {
 public:
  static constexpr unsigned slots = 64;
  static constexpr std::uint32_t max_bytes = 8 * 1024;  // of a list
  static constexpr std::uint32_t max_blocks = 64;
  static constexpr std::uint32_t max_held = 64 * 1024;  // bytes of all

  struct list {
    mem::lab_number owner;  // 0: no list
    std::uint32_t count;
    std::uint32_t bytes;
    std::uint32_t smallest;  // no block is smaller
    mem::block* first;
    mem::block* last;
  };

  // Adds a block of `size` bytes. send(list) is called for what must go before or because of it.
  template <class Send>
  void add(mem::lab_number owner, mem::block* b, std::uint32_t size, mem::secret s, Send&& send) {
    if (!has(owner)) open(owner, b, send);
    if (append(owner, b, size, s)) send_due(owner, send);
  }

  // The same in parts, so that who frees calls nothing while nothing is due.
  bool has(mem::lab_number owner) const { return lists_[owner % slots].owner == owner; }

  // Begins a list for an owner that has none, with b as its last block.
  template <class Send>
  void open(mem::lab_number owner, mem::block* b, Send&& send) {
    const unsigned slot = owner % slots;
    if (lists_[slot].owner != 0) flush(slot, send);
    lists_[slot].owner = owner;
    lists_[slot].smallest = ~std::uint32_t{0};
    lists_[slot].last = b;
    used_ |= std::uint64_t{1} << slot;
  }

  // To the list that its owner has. True: something is to be sent.
  [[nodiscard]] POLDER_ALWAYS_INLINE bool append(mem::lab_number owner, mem::block* b, std::uint32_t size,
                                                 mem::secret s) {
    list& l = lists_[owner % slots];
    links::set(b, l.first, s);
    l.first = b;
    ++l.count;
    l.bytes += size;
    if (size < l.smallest) l.smallest = size;
    held_ += size;
    return full(l) || held_ > max_held;
  }

  // After append said so to `owner`.
  template <class Send>
  void send_due(mem::lab_number owner, Send&& send) {
    if (full(lists_[owner % slots])) flush(owner % slots, send);
    else flush_all(send);
  }

  template <class Send>
  void flush_all(Send&& send) {
    while (used_ != 0) flush(unsigned(std::countr_zero(used_)), send);
  }

  bool empty() const { return used_ == 0; }

  // A block that could be taken back out. Only where it is not empty.
  const mem::block* nearest() const { return lists_[std::countr_zero(used_)].first; }

  // Takes that block out, which is of `size` bytes. Its key is still there.
  mem::block* take_back(std::uint32_t size, mem::secret s) {
    list& l = lists_[std::countr_zero(used_)];
    mem::block* const b = l.first;
    l.first = links::next(b, s);
    l.bytes -= size;
    held_ -= size;
    if (--l.count == 0) {
      l = {};
      used_ &= used_ - 1;
    }
    return b;
  }

  // What waits in it, as another thread happens to see it.
  std::uint32_t bytes() const noexcept { return glimpse(held_); }

#if POLDER_CHECK_LEVEL >= 2
  // Traps if a list is not what is noted of it. size_of(block) is its class's. How many blocks there are.
  template <class SizeOf>
  std::size_t validate(mem::secret s, SizeOf&& size_of) const {
    std::size_t blocks = 0, held = 0;
    for (unsigned slot = 0; slot != slots; ++slot) {
      const list& l = lists_[slot];
      must((used_ >> slot & 1) == (l.owner != 0));
      if (l.owner == 0) continue;
      must(l.owner % slots == slot && l.count < max_blocks && l.bytes < max_bytes);
      std::uint32_t count = 0, bytes = 0, smallest = ~std::uint32_t{0};
      const mem::block* last = nullptr;
      for (const mem::block* b = l.first; b != nullptr; last = b, b = links::next(b, s)) {
        must(++count <= l.count && links::fit(b, s));
        const std::uint32_t size = size_of(b);
        bytes += size;
        if (size < smallest) smallest = size;
      }
      must(count == l.count && bytes == l.bytes && smallest >= l.smallest && last == l.last);
      blocks += count;
      held += bytes;
    }
    must(held == held_ && held <= max_held);
    return blocks;
  }
#endif

 private:
  static bool full(const list& l) { return l.bytes >= max_bytes || l.count >= max_blocks; }

  template <class Send>
  void flush(unsigned slot, Send& send) {
    const list full = lists_[slot];
    lists_[slot] = {};
    used_ &= ~(std::uint64_t{1} << slot);
    held_ -= full.bytes;
    if (put_signposts && full.smallest >= mem::posted_block::least && full.count > 2)
      mem::put_up_signposts<max_blocks>(full.first);
    send(full);
  }

  std::uint64_t used_ = 0;  // slots with a list
  std::uint32_t held_ = 0;  // bytes
  list lists_[slots] = {};
};

}  // namespace polder::heap
