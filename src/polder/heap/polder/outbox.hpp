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
#include <polder/sync/glimpsed.hpp>

namespace polder::heap {

class outbox {
 public:
  static constexpr unsigned slots = 64;
  static constexpr std::uint32_t max_bytes = 32 * 1024;  // of a list
  static constexpr std::uint32_t max_blocks = 64;
  static constexpr std::uint32_t max_held = 64 * 1024;   // bytes of all
  static constexpr std::uint32_t mixed_from = 8 * 1024;  // bytes of all

  // What a list comes to, in one word, so that a block more is one addition and one comparison.
  //
  //   bits 0..31    bytes
  //   bits 32..47   blocks
  //   bits 48..63   those of them that have no room for signposts
  class tally {
   public:
    constexpr tally() = default;
    // Of one block.
    explicit constexpr tally(std::uint32_t size)
        : all_(size | one | (size < mem::posted_block::least ? small_one : 0)) {}

    constexpr std::uint32_t bytes() const { return std::uint32_t(all_); }
    constexpr std::uint32_t count() const { return std::uint16_t(all_ >> 32); }
    constexpr bool all_have_room() const { return all_ < small_one; }
    constexpr bool most_have_room() const { return 2 * std::uint32_t(all_ >> 48) < count(); }
    constexpr bool is_full() const { return (all_ & beyond) != 0; }
    tally& operator+=(tally more) { return all_ += more.all_, *this; }
    tally& operator-=(tally less) { return all_ -= less.all_, *this; }
    bool operator==(const tally&) const = default;

   private:
    static constexpr std::uint64_t one = std::uint64_t{1} << 32, small_one = std::uint64_t{1} << 48;
    static_assert(std::has_single_bit(max_bytes) && std::has_single_bit(max_blocks));
    static constexpr std::uint64_t beyond = (small_one - max_blocks * one) | (one - max_bytes);

    std::uint64_t all_ = 0;
  };

  struct list {
    mem::lab_number owner;  // 0: no list
    tally sum;
    mem::block* first;
    mem::block* last;
  };

  // Adds a block. send(list) is called for what must go before or because of it.
  template <class Send>
  void add(mem::lab_number owner, mem::block* b, tally of, mem::secret s, Send&& send) {
    if (!has(owner)) open(owner, b, send);
    if (append(owner, b, of, s)) send_due(owner, send);
  }

  // The same in parts, so that who frees calls nothing while nothing is due.
  bool has(mem::lab_number owner) const { return lists_[owner % slots].owner == owner; }

  // Begins a list for an owner that has none, with b as its last block.
  template <class Send>
  void open(mem::lab_number owner, mem::block* b, Send&& send) {
    const unsigned slot = owner % slots;
    if (lists_[slot].owner != 0) flush(slot, send);
    lists_[slot].owner = owner;
    lists_[slot].last = b;
    used_ |= std::uint64_t{1} << slot;
  }

  // To the list that its owner has. True: something is to be sent.
  [[nodiscard]] POLDER_ALWAYS_INLINE bool append(mem::lab_number owner, mem::block* b, tally of, mem::secret s) {
    list& l = lists_[owner % slots];
    links::set(b, l.first, s);
    l.first = b;
    l.sum += of;
    held_ += of.bytes();
    return l.sum.is_full() || held_ > max_held;
  }

  // After append said so to `owner`.
  template <class Send>
  void send_due(mem::lab_number owner, Send&& send) {
    if (lists_[owner % slots].sum.is_full()) flush(owner % slots, send);
    else flush_all(send);
  }

  template <class Send>
  void flush_all(Send&& send) {
    while (used_ != 0) flush(unsigned(std::countr_zero(used_)), send);
  }

  bool empty() const { return used_ == 0; }

  // More than a few blocks, and of several owners.
  bool is_mixed() const { return held_ > mixed_from && (used_ & (used_ - 1)) != 0; }

  // A block that could be taken back out. Only where it is not empty.
  const mem::block* nearest() const { return lists_[std::countr_zero(used_)].first; }

  // Takes that block out. Its key is still there.
  mem::block* take_back(tally of, mem::secret s) {
    list& l = lists_[std::countr_zero(used_)];
    mem::block* const b = l.first;
    l.first = links::next(b, s);
    l.sum -= of;
    held_ -= of.bytes();
    if (l.first == nullptr) {
      l = {};
      used_ &= used_ - 1;
    }
    return b;
  }

  // What waits in it, as another thread happens to see it.
  std::uint32_t bytes() const noexcept { return held_.glimpse(); }

#if POLDER_CHECK_LEVEL >= 2
  // Traps if a list is not what is noted of it. size_of(block) is its class's. How many blocks there are.
  template <class SizeOf>
  std::size_t validate(mem::secret s, SizeOf&& size_of) const {
    std::size_t blocks = 0, held = 0;
    for (unsigned slot = 0; slot != slots; ++slot) {
      const list& l = lists_[slot];
      must((used_ >> slot & 1) == (l.owner != 0));
      if (l.owner == 0) continue;
      must(l.owner % slots == slot && !l.sum.is_full());
      tally sum;
      const mem::block* last = nullptr;
      for (const mem::block* b = l.first; b != nullptr; last = b, b = links::next(b, s)) {
        sum += tally(size_of(b));
        must(sum.count() <= l.sum.count() && links::fit(b, s));
      }
      must(sum == l.sum && last == l.last);
      blocks += sum.count();
      held += sum.bytes();
    }
    must(held == held_ && held <= max_held);
    return blocks;
  }
#endif

 private:
  template <class Send>
  void flush(unsigned slot, Send& send) {
    const list full = lists_[slot];
    lists_[slot] = {};
    used_ &= ~(std::uint64_t{1} << slot);
    held_ -= full.sum.bytes();
    send(full);
  }

  std::uint64_t used_ = 0;           // slots with a list
  glimpsed<std::uint32_t> held_{0};  // bytes
  list lists_[slots] = {};
};

}  // namespace polder::heap
