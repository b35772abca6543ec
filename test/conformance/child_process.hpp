#pragma once
// child_process — runs a program with an environment of its own, collects what it prints, and ends it when its time is up.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace conformance {

struct child_result {
  std::string out, err;
  int status = -1;       // as waitpid gives it
  bool in_time = false;  // false: it was killed when its time was up

  bool exited(int code) const { return in_time && WIFEXITED(status) && WEXITSTATUS(status) == code; }
  bool died_of(int signal) const { return in_time && WIFSIGNALED(status) && WTERMSIG(status) == signal; }
  std::string how() const {
    if (!in_time) return "did not end in time";
    if (WIFSIGNALED(status)) return std::string("died of ") + ::strsignal(WTERMSIG(status));
    return "exit status " + std::to_string(WEXITSTATUS(status));
  }
};

// The environment of this process without the given names, and with the given settings.
inline std::vector<std::string> environment(const std::vector<std::string>& settings,
                                            const std::vector<std::string>& without = {}) {
  std::vector<std::string> result;
  auto named = [](const std::string& entry, const std::string& name) {
    return entry.compare(0, name.size(), name) == 0 && entry.size() > name.size() && entry[name.size()] == '=';
  };
  for (char** e = ::environ; *e != nullptr; ++e) {
    const std::string entry = *e;
    bool dropped = false;
    for (const auto& name : without) dropped = dropped || named(entry, name);
    for (const auto& s : settings) dropped = dropped || named(entry, s.substr(0, s.find('=')));
    if (!dropped) result.push_back(entry);
  }
  result.insert(result.end(), settings.begin(), settings.end());
  return result;
}

inline child_result run_child(const std::vector<std::string>& arguments, const std::vector<std::string>& variables,
                              int seconds) {
  child_result result;
  int out[2], err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) return result;
  std::vector<char*> argv, envp;
  for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  for (const auto& v : variables) envp.push_back(const_cast<char*>(v.c_str()));
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    ::execvpe(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(out[1]);
  ::close(err[1]);
  auto now = [] {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000L + t.tv_nsec / 1'000'000;
  };
  const long end = now() + seconds * 1000L;
  pollfd ends[2] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  std::string* texts[2] = {&result.out, &result.err};
  bool killed = false;
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    const long left = end - now();
    if (left <= 0) {
      if (!killed) ::kill(-child, SIGKILL), killed = true;
      break;
    }
    if (::poll(ends, 2, static_cast<int>(left)) < 0 && errno != EINTR) break;
    for (int i = 0; i < 2; ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      char buffer[65'536];
      const ssize_t n = ::read(ends[i].fd, buffer, sizeof buffer);
      if (n > 0) texts[i]->append(buffer, static_cast<std::size_t>(n));
      else if (n == 0 || errno != EINTR) ends[i].fd = -1;
    }
  }
  ::close(out[0]);
  ::close(err[0]);
  while (!killed && ::waitpid(child, &result.status, WNOHANG) == 0) {
    if (now() > end) ::kill(-child, SIGKILL), killed = true;
    ::usleep(500);
  }
  if (killed) ::waitpid(child, &result.status, 0);
  result.in_time = !killed;
  return result;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end == std::string::npos ? end : end - at));
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return lines;
}

}  // namespace conformance
