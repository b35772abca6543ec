#pragma once
// k_segment — up to k slots that elements come into and leave in any order; and who may use them.
//
//   anyone      a segment has k slots
//   one_each    a thread has at most one element in a segment: what a thread put comes out in order (Haas, Henzinger, Holzer,
//               Kirsch, Lippautz, Payer, Sezgin, Sokolova and Veith, "Local linearizability for concurrent container-type
//               data structures", CONCUR 2016)
//
// deviation: of one_each a segment is as wide as the one before it turned out to be needed. Full of others' elements: the
// next is twice as wide, up to k. Left for the sake of a thread's own element: the next has as many slots as were used. So a
// thread alone pays for one slot an element; the published structures pay for k, and for a mark of each thread there may be.
// Whose an element is stands in its slot.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <polder/ds/parts/cells.hpp>
#include <polder/ds/parts/slot.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

inline constexpr std::size_t usual_k = 80;  // Scal's
inline constexpr std::size_t most_k = std::size_t{1} << 24;

// `what` says whose: "k_stack: k".
inline std::uint32_t checked_k(const char* what, std::size_t k) {
  if (k == 0 || k > most_k)
    throw std::invalid_argument(std::string(what) + " is from 1 to " + std::to_string(most_k));
  return std::uint32_t(k);
}

struct anyone {
  static constexpr bool own_segments = false;
  static std::uint32_t first_width(std::uint32_t k) noexcept { return k; }
  template <class Sight>
  static std::uint32_t next_width(const Sight&, std::uint32_t, std::uint32_t k) noexcept {
    return k;
  }
};

struct one_each {
  static constexpr bool own_segments = true;
  static std::uint32_t first_width(std::uint32_t) noexcept { return 1; }
  // After a segment of `width`, in which `seen` was seen.
  template <class Sight>
  static std::uint32_t next_width(const Sight& seen, std::uint32_t width, std::uint32_t k) noexcept {
    if (seen.free != 0) return std::max(width - seen.free, 1u);
    return seen.was_mine ? width : std::min(2 * width, k);
  }
};

template <class Use, class Memory>
class k_segment {
 public:
  using places = cells<slot, Memory>;
  using run = slot_run<Use>;
  using owner_number = slot_state::owner_number;

  explicit k_segment(places&& p) noexcept : places_(std::move(p)) {}
  std::size_t bytes() const noexcept { return places_.bytes(); }
  std::uint32_t width() const noexcept { return std::uint32_t(places_.size()); }
  run slots() const noexcept { return run(&places_[0], width()); }

  // The first element, before the segment is shared.
  void begin(std::uint64_t e, owner_number who, std::uint32_t random) noexcept {
    slots().fill(slots().find_free(random), e, who);
  }

  // A segment that is sealed takes no more elements. Who fills a slot looks afterwards whether it is; who seals it looks
  // afterwards whether an element is there. Both look after they wrote, so one of them sees the other: the element is seen,
  // or taken back.
  void seal() noexcept { sealed_.store(true, order::seq_cst); }  // sync: seal-or-fill: before the look at the slots
  bool is_sealed() const noexcept { return sealed_.load(order::relaxed); }
  // Nothing is in a sealed segment, nor ever will be: but for what is taken back.
  bool is_over(std::uint32_t random) const noexcept {
    return slots().find_element(random, order::seq_cst).at == nullptr;  // sync: seal-or-fill: after the seal
  }
  // Of an element that the caller has put where `free` was. False: it was taken back.
  bool committed(const typename run::sight& free, owner_number who) noexcept {
    if (!sealed_.load(order::seq_cst)) return true;  // sync: seal-or-fill: after the slot was filled
    return !free.at->take(slots().filled(free.state, who));
  }

 private:
  const places places_;
  // sealed_ — written once, by who found the segment without elements. Read by who fills. Order: seal-or-fill.
  atomic<bool> sealed_;
};

}  // namespace polder::ds
