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

    template <class Site>
    bool came_from(const Site& site) const {
      for (const char* f : frames)
        if (site.has(f)) return true;
      return false;
    }
  };
  double mean = 0;  // of what is estimated already: each line stands for itself
  std::vector<stack> stacks;

  template <class Site>
  double live_bytes_of(const Site& site) const {
    return estimated(&stack::live_blocks, &stack::live_bytes, [&](const stack& s) { return s.came_from(site); });
  }
  template <class Site>
  double drawn_bytes_of(const Site& site) const {
    return estimated(&stack::drawn_blocks, &stack::drawn_bytes, [&](const stack& s) { return s.came_from(site); });
  }
  double live_bytes() const {
    return estimated(&stack::live_blocks, &stack::live_bytes, [](const stack&) { return true; });
  }

 private:
  // Of how many bytes those were drawn that are of stacks of which `counts` is true. pprof does the same.
  template <class Counts>
  double estimated(unsigned long stack::*blocks, unsigned long stack::*bytes, Counts counts) const {
    double sum = 0;
    for (const stack& s : stacks)
      if (s.*blocks != 0 && counts(s))
        sum += double(s.*bytes) / -std::expm1(-double(s.*bytes) / double(s.*blocks) / mean);
    return sum;
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
  int form = 0;
  probe::expect(std::sscanf(line.c_str(), "heap profile: %lu: %lu [%lu: %lu] @ %n", &sums[0], &sums[1], &sums[2],
                            &sums[3], &form) == 4 &&
                    form != 0,
                "the first line is '%s'", line.c_str());
  if (line.substr(std::size_t(form)) != "heapprofile")  // of samples
    probe::expect(std::sscanf(line.c_str() + form, "heap_v2/%lf", &w.mean) == 1, "the first line is '%s'",
                  line.c_str());
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
  probe::expect(text.find(" r-xp ", at) != std::string::npos, "no code is said to be mapped");
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
