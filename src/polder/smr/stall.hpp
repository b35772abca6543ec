#pragma once
// stall — which thread keeps others from reclaiming, and for how long at least.
//
//   progress   standing: under its caller's lock. A guard pays nothing for it: no clock is read where one opens
//   in malloc  no
//
// A member that is in the way shows a word that stays the same until it moves on. Whoever looks remembers the word, and
// when it was first seen. So the time that is told begins with a look and not with the guard: it is a lower bound, and 0
// in the look that sees a member for the first time. Who wants to know for how long must look more than once.
#include <cstdint>

#include <polder/os/thread_name.hpp>

namespace polder::smr {

struct stall {
  std::uint32_t thread = 0;        // the kernel's number of it; 0: there is none
  std::uint64_t milliseconds = 0;  // since it was first seen where it still stands
  bool inside = false;             // a guard; or it idles outside one, where its scheme waits for that too
  os::thread_name name;            // what the kernel calls it now

  explicit operator bool() const noexcept { return thread != 0; }
};

// Of one member, what the last look saw.
class standing {
 public:
  // For how long the thread has shown this word, in milliseconds, as far as it was looked at.
  std::uint64_t seen(std::uint32_t thread, std::uint64_t word, std::uint64_t now) noexcept {
    if (thread_ != thread || word_ != word) {
      thread_ = thread;
      word_ = word;
      since_ = now;
    }
    return now - since_;
  }
  void moved_on() noexcept { thread_ = 0; }

 private:
  std::uint32_t thread_ = 0;
  std::uint64_t word_ = 0;
  std::uint64_t since_ = 0;
};

}  // namespace polder::smr
