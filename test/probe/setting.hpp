#pragma once
// setting — a setting of the whole system, for as long as something runs. It takes root, and a test that runs alone.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "expect.hpp"

namespace polder::probe {

inline bool write_text(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = ::write(fd, text, std::strlen(text)) == ssize_t(std::strlen(text));
  ::close(fd);
  return done;
}

// What f says while the file at `path` says `meanwhile`; then it says `before` again. Skips the test where it cannot be written.
template <class F>
auto with_setting(const char* path, const char* meanwhile, const char* before, F f) {
  if (!write_text(path, meanwhile)) {
    say("%s cannot be written here", path);
    skip("it takes root");
  }
  const auto said = f();
  expect(write_text(path, before), "could not put %s back to %s", path, before);
  return said;
}

}  // namespace polder::probe
