#pragma once
// hardware_clock — stamps that are readings of the processor's counter of time, which nobody has to write.
//
//   paper      Dodds, Haas and Kirsch, POPL 2015, sec. 5: TS-hardware and TS-interval
//   deviation  a stamp is returned when the counter has moved on, so the next one is later even where a tick is long
//              (the published ones take it that two readings differ, which some machines' counters of 25 MHz do not
//              keep)
//
// They hold where the counters of all processors go together, as on every machine whose kernel uses them as its clock.
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include <polder/ds/parts/clock.hpp>
#include <polder/os/ticks.hpp>

namespace polder::ds {

// One reading.
class hardware_clock {
 public:
  static constexpr std::string_view name = "hardware", title = "the processor's counter", parameters = {};
  using time = point;
  struct beat {};

  template <class Cells>
  time stamp(const Cells&, beat&) noexcept {
    const std::uint64_t at = os::ordered_ticks();
    while (os::ticks() == at) {
    }
    return {at};
  }
  template <class Cells>
  std::uint64_t now(const Cells&) const noexcept {
    return os::ordered_ticks();
  }
};

// Two readings: what was stamped in between by others has no order with it, and may be taken in any.
class interval_clock {
 public:
  static constexpr std::string_view name = "interval", title = "an interval of the processor's counter",
                                    parameters = "delay";
  static constexpr std::uint64_t longest = 1'000'000'000;
  using time = span;
  struct beat {};

  // How many ticks lie between the two at least. Throws std::invalid_argument.
  explicit interval_clock(std::uint64_t delay = 0) : delay_(delay) {
    if (delay > longest)
      throw std::invalid_argument("the delay of an interval clock is at most 1'000'000'000 ticks");
  }

  template <class Cells>
  time stamp(const Cells&, beat&) noexcept {
    const std::uint64_t from = os::ordered_ticks();
    for (;;) {
      if (const std::uint64_t to = os::ordered_ticks(); to > from && to - from >= delay_) return {from, to};
    }
  }
  template <class Cells>
  std::uint64_t now(const Cells&) const noexcept {
    return os::ordered_ticks();
  }

 private:
  const std::uint64_t delay_;
};

}  // namespace polder::ds
