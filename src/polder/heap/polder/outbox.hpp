#pragma once
// outbox — blocks of other LABs, waiting to be sent home in one go.
//
//   paper      Liétar et al., ISMM 2019 (snmalloc) sends frees in batches; here a slot an owner instead of buckets
//   progress   wait-free, owner only
//   in malloc  yes
//   bound      slots * max_bytes, and one block more in a slot; emptied by every refill of its LAB
#include <cstdint>

#include <polder/mem/block.hpp>
#include <polder/mem/word.hpp>

namespace polder::heap {

class outbox {
 public:
  static constexpr unsigned slots = 8;
  static constexpr std::uint32_t max_bytes = 8 * 1024;
  static constexpr std::uint32_t max_blocks = 64;

  struct list {
    mem::lab_number owner;
    std::uint32_t count;
    std::uint32_t bytes;
    mem::block* first;
    mem::block* last;
  };

  // Adds a block of `size` bytes. send(list) is called for what must go before or because of it.
  template <class Send>
  POLDER_ALWAYS_INLINE void add(mem::lab_number owner, mem::block* b, std::uint32_t size, mem::secret s,
                                Send&& send) {
    list& l = lists_[owner % slots];
    if (l.count != 0 && l.owner != owner) flush(l, send);
    if (l.count == 0) {
      l.owner = owner;
      l.last = b;
    }
    b->set_link(l.first, s);
    l.first = b;
    ++l.count;
    l.bytes += size;
    if (l.bytes >= max_bytes || l.count >= max_blocks) flush(l, send);
  }

  template <class Send>
  void flush_all(Send&& send) {
    for (list& l : lists_)
      if (l.count != 0) flush(l, send);
  }

  bool empty() const {
    for (const list& l : lists_)
      if (l.count != 0) return false;
    return true;
  }

 private:
  template <class Send>
  static void flush(list& l, Send& send) {
    const list full = l;
    l = {};
    send(full);
  }

  list lists_[slots] = {};
};

}  // namespace polder::heap
