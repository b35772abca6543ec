#pragma once
// subject — which library is under test, and how a program that carries several scenarios runs each of them.
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../conformance/child_process.hpp"

namespace preload {

using conformance::child_result;
using conformance::environment;
using conformance::lines_of;
using conformance::run_child;

// The first library of LD_PRELOAD, with its links resolved.
inline std::string subject_library() {
  const char* preload = std::getenv("LD_PRELOAD");
  if (preload == nullptr || *preload == '\0') {
    std::fprintf(stderr, "no LD_PRELOAD: no heap is under test\n");
    std::exit(1);
  }
  const std::string first(preload, std::strcspn(preload, ": "));
  char real[PATH_MAX];
  if (::realpath(first.c_str(), real) == nullptr) {
    std::fprintf(stderr, "LD_PRELOAD names %s, which is not there\n", first.c_str());
    std::exit(1);
  }
  return real;
}

inline std::string self_path() {
  char self[PATH_MAX] = {};
  if (::readlink("/proc/self/exe", self, sizeof self - 1) < 0) std::exit(1);
  return self;
}

// The memory this process holds, in bytes.
inline std::size_t resident() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  std::size_t total = 0, pages = 0;
  if (file == nullptr || std::fscanf(file, "%zu %zu", &total, &pages) != 2) std::abort();
  std::fclose(file);
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// "It works, or it ends with one clear line": exit status 0, or one line on stderr and abort or exit, never a crash.
inline bool clear_ending(const child_result& r) {
  if (r.exited(0)) return true;
  if (!r.in_time || lines_of(r.err).size() != 1) return false;
  return WIFEXITED(r.status) || r.died_of(SIGABRT);
}

class tally {
 public:
  explicit tally(int requirement) : requirement_{requirement} {}
  void check(bool good, const std::string& what) {
    ++checked_;
    if (good) return;
    ++failed_;
    std::printf("requirement %d: %s\n", requirement_, what.c_str());
    std::fflush(stdout);
  }
  void check(bool good, const std::string& what, const child_result& r) {
    check(good, what + ": " + r.how() + "\n" + r.out.substr(0, 2000) + r.err.substr(0, 2000));
  }
  int result() const {
    std::printf("%d checked, %d failed\n", checked_, failed_);
    return failed_ == 0 && checked_ != 0 ? 0 : 1;
  }

 private:
  int requirement_, checked_ = 0, failed_ = 0;
};

}  // namespace preload
