#pragma once
// held_numbers — which of the numbers 1 to Most somebody holds. The least that is free is taken, and used again when it
// has been given back.
//
//   paper      none
//   progress   take(): lock-free, a try fails only when another took that number; give(): wait-free
//   in malloc  yes
//   invariant  a number has one holder, who knows what its last holder did
#include <cstdint>
#include <iterator>

#include <polder/base/check.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

template <std::uint32_t Most>
class held_numbers {
 public:
  using number = std::uint32_t;
  static constexpr number none = 0;

  held_numbers() = default;  // nobody holds any
  held_numbers(const held_numbers&) = delete;
  held_numbers& operator=(const held_numbers&) = delete;

  // None: all were held.
  number take() noexcept {
    for (number word = 0; word != std::size(held_); ++word) {
      std::uint64_t now = held_[word].load(order::relaxed);
      if (word == 0) now |= 1;  // number 0 is none
      while (~now != 0) {
        const unsigned bit = unsigned(__builtin_ctzll(~now));
        const std::uint64_t mask = std::uint64_t{1} << bit;
        now = held_[word].fetch_or(mask, order::acquire);  // sync: slot-handover
        if ((now & mask) == 0) return word * bits + bit;
        if (word == 0) now |= 1;
      }
    }
    return none;
  }

  // By its holder, or for it.
  void give(number n) noexcept {
    POLDER_CHECK(1, n != none && n <= Most);
    held_[n / bits].fetch_and(~(std::uint64_t{1} << n % bits), order::release);  // sync: slot-handover
  }

  // When there is no other thread: nobody holds any but the caller that one, if it is not none.
  void forget_all_but(number mine) noexcept {
    for (auto& word : held_) word.store(0, order::relaxed);
    if (mine != none) held_[mine / bits].store(std::uint64_t{1} << mine % bits, order::relaxed);
  }

 private:
  static constexpr unsigned bits = 64;
  static_assert((Most + 1) % bits == 0);

  // A bit for each number: set, it is held.
  //   written by  any thread, by fetch_or and fetch_and of its own bit
  //   read by     any thread that looks for a number
  //   order       slot-handover: what a number's last holder wrote is there for the next. All writes are RMWs
  //   ABA         a bit has no history
  atomic<std::uint64_t> held_[(Most + 1) / bits];
};

}  // namespace polder::smr
