#pragma once
// claimed_cells — cells each of which one putter and one getter have claimed: the putter fills it, and the getter takes what is
// in it, or spoils it if it will not wait for the putter.
//
//   paper      none. Ramalhete and Correia's FAAArrayQueue, 2016, fills by a CAS and takes by an exchange
//   progress   wait-free; but a getter that would spoil while the kernel refuses a heavy fence that it allowed before goes on
//              looking
//   in malloc  no: elements are moved
//   invariant  of a cell that its putter and its getter have both left, fill() and take() have said the same
//
// No read-modify-write as long as nobody spoils: an asymmetric Dekker between `filled` and `doubts`. A putter fills, passes
// the light fence and reads doubts; a getter that would spoil writes doubts, passes the heavy fence and looks at the cell
// again. One of the two sees the other: a putter that sees no doubts is seen by every getter that spoils, for one fence
// serves all that come after it. A putter that sees doubts settles by a fetch_or, as the getter does; the first one's holds.
//
// States of a cell. An arrow is one atomic step; in brackets, what the thread that made it owes.
//
//             fill: filled_         take: sees it filled, or settles second
//     free ─────────────────▶ full ─────────────────────────────────────────▶ taken
//      │                        [in doubt: settle]
//      │  take: settles first
//      └─────────────────▶ spoiled [its putter, which settles second, has its element back; both claim another]
//
// As many cells as fit, up to eight, share a cache line with their states, so that who fills or takes touches one line, and
// seven words take a line where four would with a state of a word each. The lines are aligned within the object, whatever it
// is aligned to itself: memory need not be able to align more than malloc does.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class E, std::size_t AtLeast>
class claimed_cells {
  template <std::size_t N>
  struct group_of {
    std::array<held<E>, N> elements;  // each the putter's until it is filled, then the getter's
    // filled — written by the cell's putter, read by its getter, and by who looks whether there is anything.
    //   order  cell-fill: who finds it filled sees the element
    //   ABA    it comes once
    std::array<atomic<bool>, N> filled;
    // settled — a bit for each cell: its putter, or its getter, has settled it. Written by them, in doubt alone.
    //   order  cell-settle: a getter that comes second sees the element. What a getter leaves behind is nothing
    //   ABA    a bit comes once
    atomic<std::uint8_t> settled;
  };
  static constexpr std::size_t fitting() {
    if constexpr (sizeof(group_of<8>) <= cache_line) return 8;
    else if constexpr (sizeof(group_of<7>) <= cache_line) return 7;
    else if constexpr (sizeof(group_of<5>) <= cache_line) return 5;
    else if constexpr (sizeof(group_of<3>) <= cache_line) return 3;
    else if constexpr (sizeof(group_of<2>) <= cache_line) return 2;
    else return 1;
  }
  static constexpr std::size_t together = fitting();
  static constexpr std::size_t groups = (AtLeast + together - 1) / together;
  using group = group_of<together>;
  static constexpr std::size_t stride = together == 1 ? sizeof(group) : cache_line;
  static constexpr std::size_t alignment = together == 1 ? alignof(group) : cache_line;
  static_assert(sizeof(group) <= stride && alignof(group) <= alignment);

 public:
  static constexpr std::size_t size = groups * together;

  claimed_cells() noexcept {
    for (std::size_t i = 0; i != groups; ++i) ::new (place(i)) group;
  }
  // The first cell is filled.
  explicit claimed_cells(E&& e) noexcept : claimed_cells() {
    at(0).elements[0].put(std::move(e));
    at(0).filled[0].store(true, order::relaxed);  // whoever links the cells shows them
  }
  claimed_cells(const claimed_cells&) = delete;
  claimed_cells& operator=(const claimed_cells&) = delete;
  ~claimed_cells() {
    for (std::size_t i = 0; i != groups; ++i) std::destroy_at(&at(i));
  }

  // By the putter that claimed the cell. False: it is spoiled, and e is as it was.
  template <class Fences>
  [[gnu::always_inline]] bool fill(std::size_t i, E& e, const Fences& fences) noexcept {
    group& g = at(i / together);
    g.elements[i % together].put(std::move(e));
    g.filled[i % together].store(true, order::release);  // sync: cell-fill
    fences.light();
    if (doubts_.load(order::relaxed) == doubt::none || settle(g, i, order::release))
        [[likely]]  // sync: cell-settle
      return true;
    g.elements[i % together].take_to(e);
    return false;
  }

  // Whether a putter has filled it. A cell that is spoiled may say so later.
  [[gnu::always_inline]] bool is_filled(std::size_t i) noexcept {
    return at(i / together).filled[i % together].load(order::acquire);  // sync: cell-fill
  }

  // By the getter that claimed the cell: looks at it so many times, and spoils it then. False: it is spoiled.
  template <class Fences>
  [[gnu::always_inline]] bool wait(std::size_t i, unsigned looks, const Fences& fences) noexcept {
    if (is_filled(i)) [[likely]]
      return true;
    while (--looks != 0) {
      if (is_filled(i)) return true;
    }
    return filled_at_last(i, fences);
  }
  // What is in a cell that wait() found filled.
  [[gnu::always_inline]] E take(std::size_t i) noexcept { return at(i / together).elements[i % together].take(); }
  // The same, in the place of e.
  [[gnu::always_inline]] void take_to(std::size_t i, E& e) noexcept {
    at(i / together).elements[i % together].take_to(e);
  }

 private:
  enum class doubt : std::uint8_t { none, asked, fenced };

  template <class Fences>
  POLDER_NOINLINE bool filled_at_last(std::size_t i, const Fences& fences) noexcept {
    if (doubts_.load(order::acquire) != doubt::fenced) {  // sync: cell-fenced
      doubts_.store(doubt::asked, order::relaxed);
      while (!fences.heavy()) {
        if (is_filled(i)) return true;
      }
      doubts_.store(doubt::fenced, order::release);  // sync: cell-fenced
    }
    return is_filled(i) || !settle(at(i / together), i, order::acquire);  // sync: cell-settle
  }

  // True: the caller is the first.
  static bool settle(group& g, std::size_t i, order o) noexcept {
    const auto bit = std::uint8_t(1u << i % together);
    return (g.settled.fetch_or(bit, o) & bit) == 0;
  }

  void* place(std::size_t i) noexcept {
    constexpr std::uintptr_t slack = alignment - alignof(group);
    const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(room_.data()) + slack) & ~(alignment - 1);
    return reinterpret_cast<void*>(first + i * stride);
  }
  group& at(std::size_t i) noexcept { return *std::launder(static_cast<group*>(place(i))); }

  // doubts_ — whether a getter wants to spoil, and whether the heavy fence was passed since. Written by such getters, from
  // asked to fenced and maybe back while several ask; read by putters, for which asked and fenced are the same.
  //   order  filled before doubts, doubts before the last look: the fences. cell-fenced: who sees it passed is behind it
  //   ABA    it is never none again
  atomic<doubt> doubts_;
  alignas(group) std::array<std::byte, groups * stride + alignment - alignof(group)> room_;
};

}  // namespace polder::ds
