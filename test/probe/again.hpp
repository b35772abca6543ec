#pragma once
// again — runs this very program once more with other arguments, environment and limits, and says how it ended. The
// preloaded heap is inherited, so one executable is both the driver and the case.
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "expect.hpp"

extern "C" char** environ;

namespace polder::probe {

struct outcome {
  int status = 0;
  bool timed_out = false;
  char err[8192] = {};  // what it wrote to standard error, cut at the end
  std::size_t err_size = 0;
  char out[1024] = {};
  std::size_t out_size = 0;

  bool passed() const { return !timed_out && WIFEXITED(status) && WEXITSTATUS(status) == 0; }
  int signal() const { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }

  void describe(char* text, std::size_t room) const {
    if (timed_out) {
      std::snprintf(text, room, "did not end in time");
    } else if (WIFSIGNALED(status)) {
      std::snprintf(text, room, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
      std::snprintf(text, room, "exit status %d", WEXITSTATUS(status));
    }
  }
};

inline double now() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

// `args`: after the program's name, ended by nullptr. `settings`: "NAME=VALUE" ended by nullptr; they win over the
// environment. `prepare` runs in the child just before the exec.
template <class Prepare>
outcome run_again(const char* const* args, const char* const* settings, unsigned seconds, Prepare prepare) {
  const char* argv[16] = {"/proc/self/exe"};
  for (std::size_t i = 0; args[i] && i + 2 < 16; i++) argv[i + 1] = args[i];

  const char* env[256];
  std::size_t n = 0;
  for (; settings[n]; n++) env[n] = settings[n];
  std::size_t given = n;
  for (char** e = environ; *e && n < 255; e++) {
    bool overridden = false;
    for (std::size_t i = 0; i < given; i++) {
      auto name = std::size_t(std::strchr(settings[i], '=') - settings[i]) + 1;
      if (std::strncmp(*e, settings[i], name) == 0) overridden = true;
    }
    if (!overridden) env[n++] = *e;
  }
  env[n] = nullptr;

  int err_pipe[2], out_pipe[2];
  expect(::pipe(err_pipe) == 0 && ::pipe(out_pipe) == 0, "pipe: %s", std::strerror(errno));
  pid_t child = ::fork();
  expect(child >= 0, "fork: %s", std::strerror(errno));
  if (child == 0) {
    ::dup2(err_pipe[1], 2);
    ::dup2(out_pipe[1], 1);
    const int ends[] = {err_pipe[0], err_pipe[1], out_pipe[0], out_pipe[1]};
    for (int fd : ends) ::close(fd);
    rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    prepare();
    ::execve(argv[0], const_cast<char**>(argv), const_cast<char**>(env));
    ::_exit(127);
  }
  ::close(err_pipe[1]);
  ::close(out_pipe[1]);

  outcome result;
  double deadline = now() + seconds;
  pollfd fds[2] = {{err_pipe[0], POLLIN, 0}, {out_pipe[0], POLLIN, 0}};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    double left = deadline - now();
    if (left <= 0 || ::poll(fds, 2, int(left * 1000) + 1) < 0) {
      if (left > 0 && errno == EINTR) continue;
      result.timed_out = true;
      ::kill(child, SIGKILL);
      break;
    }
    for (int i = 0; i < 2; i++) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char lost[4096];
      char* text = i == 0 ? result.err : result.out;
      std::size_t& size = i == 0 ? result.err_size : result.out_size;
      std::size_t room = (i == 0 ? sizeof result.err : sizeof result.out) - 1 - size;
      auto got = room ? ::read(fds[i].fd, text + size, room) : ::read(fds[i].fd, lost, sizeof lost);
      if (got <= 0) {
        fds[i].fd = -1;
      } else if (room) {
        size += std::size_t(got);
      }
    }
  }
  ::close(err_pipe[0]);
  ::close(out_pipe[0]);
  while (::waitpid(child, &result.status, 0) < 0 && errno == EINTR) {
  }
  return result;
}

inline outcome run_again(const char* const* args, const char* const* settings, unsigned seconds) {
  return run_again(args, settings, seconds, [] {});
}

// Runs a case and says how it went; true if it passed.
template <class Prepare>
bool passes(const char* name, const char* const* args, const char* const* settings, unsigned seconds,
            Prepare prepare) {
  auto result = run_again(args, settings, seconds, prepare);
  char how[128];
  result.describe(how, sizeof how);
  if (result.err_size && result.err[result.err_size - 1] == '\n') result.err[--result.err_size] = 0;
  if (result.passed()) {
    say("%-40s ok%s%s", name, result.err_size ? ": " : "", result.err_size ? result.err : "");
  } else {
    say("%-40s FAILED, %s: %s", name, how, result.err);
  }
  return result.passed();
}

inline bool passes(const char* name, const char* const* args, const char* const* settings, unsigned seconds) {
  return passes(name, args, settings, seconds, [] {});
}

}  // namespace polder::probe
