#pragma once
// written — a heap profile as the heap under test writes it, read back and held against its grammar.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "../probe/the_heap.hpp"

namespace polder::profile_test {

struct written {
  struct stack {
    unsigned long live_blocks, live_bytes, drawn_blocks, drawn_bytes;
    std::vector<const char*> frames;

    // How much all of it is, of which this was drawn. pprof does the same.
    double estimated(unsigned long blocks, unsigned long bytes, double mean) const {
      if (blocks == 0) return 0;
      return double(bytes) / -std::expm1(-double(bytes) / double(blocks) / mean);
    }
  };
  double mean = 0;
  std::vector<stack> stacks;
  bool has_maps = false;

  template <class Site>
  double live_bytes_of(const Site& site) const {
    double sum = 0;
    for (const stack& s : stacks)
      if (came_from(s, site)) sum += s.estimated(s.live_blocks, s.live_bytes, mean);
    return sum;
  }
  template <class Site>
  double drawn_bytes_of(const Site& site) const {
    double sum = 0;
    for (const stack& s : stacks)
      if (came_from(s, site)) sum += s.estimated(s.drawn_blocks, s.drawn_bytes, mean);
    return sum;
  }
  double live_bytes() const {
    double sum = 0;
    for (const stack& s : stacks) sum += s.estimated(s.live_blocks, s.live_bytes, mean);
    return sum;
  }

  template <class Site>
  static bool came_from(const stack& s, const Site& site) {
    for (const char* f : s.frames)
      if (site.has(f)) return true;
    return false;
  }
};

// quiet: no thread allocates meanwhile, and then the sums of the first line are those of the others.
inline written parsed(const std::string& text, bool quiet) {
  written w;
  std::size_t at = 0;
  const auto next = [&] {
    const std::size_t end = text.find('\n', at);
    probe::expect(end != std::string::npos, "the profile breaks off");
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    return line;
  };
  unsigned long sums[4], found[4] = {};
  std::string line = next();
  probe::expect(std::sscanf(line.c_str(), "heap profile: %lu: %lu [%lu: %lu] @ heap_v2/%lf", &sums[0], &sums[1],
                            &sums[2], &sums[3], &w.mean) == 5,
                "the first line is '%s'", line.c_str());
  while (!(line = next()).empty()) {
    written::stack s{};
    int end = 0;
    probe::expect(std::sscanf(line.c_str(), "%lu: %lu [%lu: %lu] @%n", &s.live_blocks, &s.live_bytes,
                              &s.drawn_blocks, &s.drawn_bytes, &end) == 4 &&
                      end != 0,
                  "a line is '%s'", line.c_str());
    for (const char* p = line.c_str() + end; *p != '\0';) {
      char* after = nullptr;
      s.frames.push_back(reinterpret_cast<const char*>(std::strtoul(p, &after, 16)));
      probe::expect(after != p, "a line is '%s'", line.c_str());
      p = after;
    }
    found[0] += s.live_blocks, found[1] += s.live_bytes, found[2] += s.drawn_blocks, found[3] += s.drawn_bytes;
    w.stacks.push_back(std::move(s));
  }
  probe::expect(!quiet || std::memcmp(sums, found, sizeof sums) == 0, "the sums are not those of the lines");
  probe::expect(next() == "MAPPED_LIBRARIES:", "nothing is said to be mapped");
  w.has_maps = text.find(" r-xp ", at) != std::string::npos;
  probe::expect(w.has_maps, "no code is said to be mapped");
  return w;
}

inline std::string contents_of(int fd) {
  std::string text;
  char piece[4096];
  probe::expect(::lseek(fd, 0, SEEK_SET) == 0, "lseek");
  for (ssize_t n; (n = ::read(fd, piece, sizeof piece)) > 0;) text.append(piece, std::size_t(n));
  return text;
}

// kind: enum polder_profile.
inline written write_now(int kind, bool quiet = true) {
  const int fd = ::memfd_create("profile", 0);
  probe::expect(fd >= 0, "memfd_create");
  const int error = the_heap::profile_write(fd, kind);
  probe::expect(error == 0, "polder_profile_write: %s", std::strerror(error));
  const written w = parsed(contents_of(fd), quiet);
  ::close(fd);
  return w;
}

}  // namespace polder::profile_test
