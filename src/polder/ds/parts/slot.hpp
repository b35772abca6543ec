#pragma once
// slot — a place for an element of 64 bits, with what tells it from earlier ones; and a run of them, which are searched from
// a random one on.
//
//   progress   wait-free
//   in malloc  yes
//
//               fill [owner, turn + n]              take [the element is the taker's]
//     (turn, empty) ───────────────▶ (turn + n, full) ───────────────────────────────▶ (turn + n, empty)
//
// A slot says in one word whether an element is there, whose it is or was, and in which turn it came; the element is in the
// other. So every 64-bit value is one, and since turns only grow, a slot that was seen twice in one turn without an element
// had none in between.
//
//   once   each slot takes one element in a run's turn; what was seen gone stays gone
//   again  a slot takes the next as soon as it is empty
#include <cstdint>
#include <optional>

#include <polder/sync/atomic.hpp>
#include <polder/sync/double_word.hpp>

namespace polder::ds {

// Turns are counted in 47 bits. Those that are compared are fewer than half of that apart, which tells the earlier one still.
class slot_state {                     //  63           17 16    1  0
 public:                               //  │    turn      │ owner │full│
  using owner_number = std::uint16_t;  // 0: it does not matter whose
  explicit slot_state(std::uint64_t bits = 0) noexcept : bits_(bits) {}
  static slot_state with_element(std::uint64_t turn, owner_number owner) noexcept {
    return slot_state(turn << 17 | std::uint64_t(owner) << 1 | 1);
  }
  std::uint64_t bits() const noexcept { return bits_; }
  bool full() const noexcept { return (bits_ & 1) != 0; }
  owner_number owner() const noexcept { return owner_number(bits_ >> 1); }
  std::uint64_t turn() const noexcept { return bits_ >> 17; }
  bool is_of(std::uint64_t turn) const noexcept { return turn_bits() == turn << 17; }
  bool is_before(std::uint64_t turn) const noexcept {
    return !is_of(turn) && (turn << 17) - turn_bits() < std::uint64_t{1} << 63;
  }
  slot_state emptied() const noexcept { return slot_state(bits_ & ~std::uint64_t{1}); }

 private:
  std::uint64_t turn_bits() const noexcept { return bits_ >> 17 << 17; }
  std::uint64_t bits_;
};

class slot {
 public:
  slot_state state(order o) const noexcept { return slot_state(word_.first(o)); }

  bool fill(slot_state was, slot_state now, std::uint64_t e) noexcept {
    double_value expected{was.bits(), 0};
    // sync: slot-element, slot-seen, seal-or-fill
    return word_.cas(expected, {now.bits(), e}, order::seq_cst, order::relaxed);
  }
  // The element that was seen; nothing if it is gone.
  std::optional<std::uint64_t> take(slot_state seen) noexcept {
    double_value expected{seen.bits(), word_.second(order::relaxed)};
    // sync: slot-element, slot-seen
    if (!word_.cas(expected, {seen.emptied().bits(), 0}, order::acq_rel, order::relaxed)) return std::nullopt;
    return expected.second;
  }

 private:
  // word_ — state and element; the element is 0 while the slot is empty. Written by who fills and who takes.
  //   order  slot-element: what an element points to was written before it was put
  //          slot-seen: who sees what was done to a slot sees what was done to others before: of a thread that leaves an
  //            element behind and takes another, nobody sees the second alone
  //          seal-or-fill: see the structures that seal
  //   ABA    a turn is filled once
  double_word word_;
};

struct once {
  std::uint64_t turn = 1;
  bool is_free(slot_state s) const noexcept { return !s.full() && s.is_before(turn); }
  bool has_element(slot_state s) const noexcept { return s.full() && s.is_of(turn); }
  std::uint64_t next(slot_state) const noexcept { return turn; }
};
struct again {
  static bool is_free(slot_state s) noexcept { return !s.full(); }
  static bool has_element(slot_state s) noexcept { return s.full(); }
  static std::uint64_t next(slot_state s) noexcept { return s.turn() + 1; }
};

template <class Use>
class slot_run {
 public:
  using owner_number = slot_state::owner_number;

  slot_run(slot* first, std::uint32_t size, Use use = {}) noexcept : first_(first), size_(size), use_(use) {}
  std::uint32_t size() const noexcept { return size_; }

  // What a search saw. `at` is null if there was none such: then it saw every slot, each once.
  struct sight {
    slot* at = nullptr;
    slot_state state{};
    std::uint64_t turns = 0;  // added up
    std::uint32_t free = 0;
    bool mine = false;      // an element of the asker's is in one
    bool was_mine = false;  // or was the last one
  };

  // A free one. Of an asker with a number everything is looked at. Relaxed: what is free is acquired when it is filled, and
  // who saw a slot in use has seen no more than that, which nobody that hears of it can see undone.
  sight find_free(std::uint32_t random, owner_number who = 0) const noexcept {
    return search(random, order::relaxed, [&](sight& seen, slot& s, slot_state now) {
      if (who != 0 && now.owner() == who) seen.was_mine = true, seen.mine |= now.full();
      if (!use_.is_free(now)) return false;
      ++seen.free;
      if (seen.at == nullptr) seen.at = &s, seen.state = now;
      return who == 0;
    });
  }
  // Acquiring; a second look for the same answer need not be: the same turns without elements are what the first one acquired.
  sight find_element(std::uint32_t random, order o) const noexcept {
    return search(random, o, [&](sight& seen, slot& s, slot_state now) {
      seen.free += use_.is_free(now);
      if (!use_.has_element(now)) return false;
      seen.at = &s, seen.state = now;
      return true;
    });
  }

  bool fill(const sight& free, std::uint64_t e, owner_number who) const noexcept {
    return free.at->fill(free.state, filled(free.state, who), e);
  }
  // What the slot then is.
  slot_state filled(slot_state was, owner_number who) const noexcept {
    return slot_state::with_element(use_.next(was), who);
  }

 private:
  template <class F>
  sight search(std::uint32_t random, order o, F&& f) const noexcept {
    sight seen;
    const auto start = std::uint32_t(std::uint64_t(random) * size_ >> 32);
    for (std::uint32_t i = start, left = size_; left != 0; --left) {
      const slot_state now = first_[i].state(o);
      seen.turns += now.turn();
      if (f(seen, first_[i], now)) break;
      if (++i == size_) i = 0;
    }
    return seen;
  }

  slot* first_;
  std::uint32_t size_;
  Use use_;
};

}  // namespace polder::ds
