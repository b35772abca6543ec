#pragma once
// place — what a node knows of its place among the others: nothing, or a number that never wraps.
//
// A structure of several backends asks them how long they are, and whether something came in between two looks; one that is
// used alone need not know. turn: how a get went that was for one turn alone.
#include <cstdint>

#include <polder/sync/atomic.hpp>

namespace polder::ds {

struct uncounted {
  static constexpr bool counts = false;
  static constexpr std::uint64_t count() noexcept { return 0; }
  static constexpr void after(const uncounted&) noexcept {}
  static constexpr void first() noexcept {}
};

class counted_place {
 public:
  static constexpr bool counts = true;
  std::uint64_t count() const noexcept { return n_.get(); }
  void after(const counted_place& other) noexcept { n_.set(other.count() + 1); }
  void first() noexcept { n_.set(1); }

 private:
  plain<std::uint64_t> n_;  // by who made the node, before it is linked
};

enum class turn : std::uint8_t { taken, empty, passed };

}  // namespace polder::ds
