#pragma once
// resident — what the kernel says a process uses, read without allocating.
#include <fcntl.h>
#include <unistd.h>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace polder::probe {

// Up to `room - 1` bytes of a file, ended by a zero; 0 if it cannot be read.
inline std::size_t read_text(const char* path, char* text, std::size_t room) {
  int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text[0] = 0;
  std::size_t n = 0;
  while (n < room - 1) {
    auto got = ::read(fd, text + n, room - 1 - n);
    if (got <= 0) break;
    n += std::size_t(got);
  }
  ::close(fd);
  text[n] = 0;
  return n;
}

// What is resident at one moment, in KiB, as the kernel counts it: some tens of pages a processor may not be in it yet.
inline long resident_now_kib() {
  char text[256];
  read_text("/proc/self/statm", text, sizeof text);
  const char* second = std::strchr(text, ' ');
  return second ? std::atol(second) * (::sysconf(_SC_PAGESIZE) / 1024) : 0;
}

// A field of smaps_rollup ("Rss:", "Private_Dirty:"), in KiB. Exact where nobody works; else it counts twice what is given back
// behind its walk and had again before it.
inline long rollup_kib(const char* field) {
  char text[2048];
  if (read_text("/proc/self/smaps_rollup", text, sizeof text) == 0) return resident_now_kib();
  const char* at = std::strstr(text, field);
  return at ? std::atol(at + std::strlen(field)) : 0;
}

inline long resident_kib() { return rollup_kib("Rss:"); }

// Address space in use, in KiB.
inline long mapped_kib() {
  char text[256];
  read_text("/proc/self/statm", text, sizeof text);
  return std::atol(text) * (::sysconf(_SC_PAGESIZE) / 1024);
}

// Number of mappings of this process.
inline long map_count() {
  int fd = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[4096];
  long lines = 0;
  for (;;) {
    auto got = ::read(fd, text, sizeof text);
    if (got <= 0) break;
    for (long i = 0; i < got; i++) lines += text[i] == '\n';
  }
  ::close(fd);
  return lines;
}

}  // namespace polder::probe
