#pragma once
// operation_times — how long operations of a structure took, of some of them.
#include "core/log_linear.hpp"
#include "core/percentiles.hpp"
#include "core/run.hpp"
#include "core/stopwatch.hpp"

namespace polder::bench {

// Of threads' operations, by themselves. One in `every` is timed; the distance to the next is drawn anew each time, so that
// no period, such as a reclaimer's, can hide from it.
class operation_times {
 public:
  operation_times(unsigned threads, unsigned every) : of_(every == 0 ? 0 : threads), every_(every) {}

  // Operations until the next that is timed, with that one.
  std::uint64_t draw(random& numbers) const {
    return every_ == 0 ? ~std::uint64_t{0} : 1 + numbers.below(2 * std::uint64_t{every_} - 1);
  }
  std::uint64_t begin() const { return watch_.begin(); }
  void end(unsigned thread, std::uint64_t begin) { of_[thread].add(watch_.end(begin)); }
  void tell(run& r) const;

 private:
  const stopwatch watch_;
  mapped_array<log_linear> of_;
  const unsigned every_;
};

}  // namespace polder::bench
