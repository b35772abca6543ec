#include "core/measure.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace polder::bench {

namespace {

std::int64_t time_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

std::int64_t now_ns() { return time_of(CLOCK_MONOTONIC); }
std::int64_t thread_ns() { return time_of(CLOCK_THREAD_CPUTIME_ID); }

usage usage_now() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  const auto ns = [](const timeval& t) {
    return std::int64_t{t.tv_sec} * 1'000'000'000 + std::int64_t{t.tv_usec} * 1000;
  };
  return {ns(u.ru_utime), ns(u.ru_stime), u.ru_minflt, u.ru_majflt};
}

std::int64_t status_kb(const char* field) {
  char text[4096];
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return -1;
  text[length] = '\0';
  const char* at = std::strstr(text, field);
  if (at == nullptr) return -1;
  at += std::strlen(field);
  at += std::strspn(at, " \t");
  std::int64_t value = -1;
  std::from_chars(at, text + length, value);
  return value;
}

bool begin_peak() {
  const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool begun = write(file, "5", 1) == 1;
  close(file);
  return begun;
}

std::int64_t rss_bytes() {
  static const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  static const std::int64_t page = sysconf(_SC_PAGESIZE);
  char text[128];
  const ssize_t length = pread(file, text, sizeof text, 0);
  if (length <= 0) return -1;
  const char* at = std::find(text, text + length, ' ');
  if (at == text + length) return -1;
  std::int64_t pages = -1;
  std::from_chars(at + 1, text + length, pages);
  return pages * page;
}

}  // namespace polder::bench
