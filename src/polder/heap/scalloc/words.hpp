#pragma once
// words — what scalloc keeps in one word each: a free list with its length, an owner, an epoch.
//
//   paper      Aigner et al. 2015, sec. 5: the count in the top of the remote list's word, an owner of 16 bits and a
//              reference of 48, an epoch of a state and an ABA counter; figure 3 for the states
//   in malloc  yes: plain values
//   deviation  the local list has the same form as the remote one, so that taking all of the remote list is one store, and
//              a fork never sees a list and its length disagree
//
// States. In brackets, what the thread that made the step owes.
//
//                       taken from the arena or the pool [it is its LAB's hot span]
//    expected, free ─────────────────────────────────────────────────▶ hot ◀─────────────────────┐
//        ▲                                                              │                        │
//        │ ▲                            out of blocks, or its LAB ends  │                        │ taken out of
//        │ │                            [look whether more is due]      ▼                        │ its set
//        │ └────────────────────────────────────────────────────── floating ─────────────▶ reusable
//        │     last block freed, never listed [give it to the pool]     ▲   more than the   │   │
//        │                                                              │   threshold free  │   │
//        │                                                              └───────────────────┘   │
//        │                                                                 its LAB ends         │
//        └──────────────────────────────────────────────────────────────────────────────────────┘
//              last block freed [give it to the pool]
//
// Every step counts the epoch up. `expected` is what zeroed memory says.
// deviation: figure 3 has no arrow from floating to free. Without it a span whose threshold is never passed (100 %, or one
// block), and one whose LAB has ended, could not come back.
#include <cstdint>

#include <polder/base/align.hpp>
#include <polder/base/check.hpp>

namespace polder::heap::scalloc {

enum class span_state : std::uint8_t { expected, free, hot, floating, reusable };

constexpr bool legal(span_state from, span_state to) {
  switch (from) {
    case span_state::expected:
    case span_state::free: return to == span_state::hot;
    case span_state::hot: return to == span_state::floating;
    case span_state::floating: return to == span_state::reusable || to == span_state::free;
    case span_state::reusable: return to == span_state::hot || to == span_state::floating || to == span_state::free;
  }
  return false;
}

//  63    60 59                                    0
//  ┌───────┬───────────────────────────────────────┐
//  │ state │                counter                │   counter: steps taken since the span left the arena
//  └───────┴───────────────────────────────────────┘
class epoch_word {
 public:
  constexpr epoch_word() = default;
  constexpr epoch_word(span_state s, std::uint64_t counter) : bits_{std::uint64_t(s) << shift | (counter & mask)} {}
  constexpr span_state state() const { return span_state(bits_ >> shift); }
  constexpr std::uint64_t counter() const { return bits_ & mask; }
  constexpr epoch_word next(span_state to) const {
    POLDER_CHECK(1, legal(state(), to));
    return {to, counter() + 1};
  }
  friend constexpr bool operator==(epoch_word, epoch_word) = default;

 private:
  static constexpr unsigned shift = 60;
  static constexpr std::uint64_t mask = (std::uint64_t{1} << shift) - 1;
  std::uint64_t bits_ = 0;
};

inline constexpr unsigned address_bits = 48;  // a pointer's share of a word; the heap's addresses are lower
inline constexpr std::uint64_t address_mask = (std::uint64_t{1} << address_bits) - 1;

//  63       48 47                                 0
//  ┌──────────┬────────────────────────────────────┐
//  │    id    │                LAB                 │   all zero: TERMINATED, nobody
//  └──────────┴────────────────────────────────────┘
class owner_word {
 public:
  constexpr owner_word() = default;
  owner_word(const void* lab, std::uint16_t id)
      : bits_{std::uint64_t{id} << address_bits | std::uint64_t(address(lab))} {}
  constexpr bool terminated() const { return bits_ == 0; }
  constexpr std::uint16_t id() const { return std::uint16_t(bits_ >> address_bits); }
  template <class Lab>
  Lab& lab() const {
    return *reinterpret_cast<Lab*>(bits_ & address_mask);
  }
  friend constexpr bool operator==(owner_word, owner_word) = default;

 private:
  std::uint64_t bits_ = 0;
};

//  63       48 47                                 0
//  ┌──────────┬────────────────────────────────────┐
//  │  count   │            first block             │
//  └──────────┴────────────────────────────────────┘
// Of the local list, `count` also has the blocks at the span's end that were never handed out and are on no list yet.
class list_word {
 public:
  constexpr list_word() = default;
  list_word(const void* first, std::uint32_t count)
      : bits_{std::uint64_t{count} << address_bits | std::uint64_t(address(first))} {
    POLDER_CHECK(1, count <= 0xffff);
  }
  template <class Block>
  Block* first() const {
    return reinterpret_cast<Block*>(bits_ & address_mask);
  }
  constexpr std::uint32_t count() const { return std::uint32_t(bits_ >> address_bits); }
  constexpr bool none_listed() const { return (bits_ & address_mask) == 0; }
  list_word pushed(const void* block) const { return raw((bits_ & ~address_mask) + one + address(block)); }
  list_word popped(const void* next) const { return raw((bits_ & ~address_mask) - one + address(next)); }
  friend constexpr bool operator==(list_word, list_word) = default;

 private:
  static constexpr std::uint64_t one = std::uint64_t{1} << address_bits;
  static list_word raw(std::uint64_t bits) {
    list_word w;
    w.bits_ = bits;
    return w;
  }
  std::uint64_t bits_ = 0;
};

}  // namespace polder::heap::scalloc
