#pragma once
// child — runs polder-bench and keeps what it printed.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace polder::bench::test {

struct outcome {
  int status = -1;  // as a shell would say it
  std::string out;
  std::string err;

  bool says(const std::string& words) const { return out.find(words) != std::string::npos; }
  unsigned lines() const {
    unsigned n = 0;
    for (const char c : out) n += c == '\n';
    return n;
  }
};

inline outcome call(const std::string& program, std::vector<std::string> arguments,
                    const std::vector<std::string>& environment = {}) {
  int out[2];
  int err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    for (const auto& e : environment) putenv(const_cast<char*>(e.c_str()));
    std::vector<char*> words{const_cast<char*>(program.c_str())};
    for (auto& a : arguments) words.push_back(a.data());
    words.push_back(nullptr);
    execv(program.c_str(), words.data());
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  outcome result;
  pollfd ends[2] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  for (int open = 2; open > 0;) {
    if (poll(ends, 2, 50'000) <= 0) kill(child, SIGKILL);
    for (int i = 0; i < 2; ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      char text[4096];
      const ssize_t n = read(ends[i].fd, text, sizeof text);
      if (n > 0) {
        (i == 0 ? result.out : result.err).append(text, static_cast<std::size_t>(n));
      } else {
        ends[i].fd = -1;
        --open;
      }
    }
  }
  close(out[0]);
  close(err[0]);
  int status = 0;
  waitpid(child, &status, 0);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace polder::bench::test
