#pragma once
// write_line — a result on standard output, past the C library, so that it also works inside a signal handler.
#include <unistd.h>

#include <cerrno>
#include <span>

namespace polder::bench {

// 0, or errno of the write that failed.
inline int write_line(std::span<const char> line) {
  while (!line.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, line.data(), line.size());
    if (n > 0) line = line.subspan(static_cast<std::size_t>(n));
    else if (n == 0) return EIO;  // nothing is taken, and nothing is said of why
    else if (errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace polder::bench
