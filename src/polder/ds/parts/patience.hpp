#pragma once
// patience — how long to look again at what another thread is about to finish: some looks at once, which is enough for one
// that is running; then the processor is given away once, which is enough for one that waits for it; then no more.
#include <sched.h>

namespace polder::ds {

class patience {
 public:
  static constexpr unsigned looks = 4;

  // Whether to look again.
  bool more() noexcept {
    ++looked_;
    if (looked_ < looks) return true;
    if (looked_ != looks) return false;
    (sched_yield)();  // the parentheses keep a model checker's macro out
    return true;
  }

 private:
  unsigned looked_ = 0;
};

}  // namespace polder::ds
