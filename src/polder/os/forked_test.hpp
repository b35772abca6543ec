#pragma once
// forked — runs part of a test in a child, for limits and filters that cannot be taken back.
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <ostream>

namespace polder::os {

// How the child ended: its exit status, or the signal that killed it.
struct ending {
  int status = -1;
  int signal = 0;
  friend bool operator==(const ending&, const ending&) = default;
  friend std::ostream& operator<<(std::ostream& to, const ending& e) {
    return e.signal != 0 ? to << "killed by signal " << e.signal : to << "exit status " << e.status;
  }
};

inline constexpr ending fine{.status = 0};

// Runs f in a forked child, which ends with what f returns: 0, or the number of the expectation that did not hold. A
// child that is still there after a minute is killed by its alarm.
template <class F>
ending forked(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(f());
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return {};
  if (WIFSIGNALED(status)) return {.status = -1, .signal = WTERMSIG(status)};
  return {.status = WEXITSTATUS(status)};
}

}  // namespace polder::os
