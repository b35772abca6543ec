#pragma once
// busy — work that takes so many cycles of the time stamp counter, and touches no memory.
#include <cstdint>

namespace polder::bench {

class busy {
 public:
  // Finds out how long a step takes: a few milliseconds.
  explicit busy(std::uint64_t cycles);

  // The work, once.
  void operator()() const {
    std::uint64_t x = steps_;
    for (std::uint64_t i = steps_; i != 0; --i) {
      x *= 0x9e37'79b9'7f4a'7c15;  // each waits for the one before
      asm volatile("" : "+r"(x));
    }
  }
  std::uint64_t steps() const { return steps_; }

 private:
  std::uint64_t steps_;
};

}  // namespace polder::bench
