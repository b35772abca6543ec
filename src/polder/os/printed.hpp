#pragma once
// printed — the end of a program that printed what it found: all of it is written, or one line says that it is not.
//
//   std::printf("%s\n", found);  return os::printed("polder-registry");   // 0, or 2 where the disk is full
//
//   in malloc  no: the C library's streams; not_printed() alone would do
//   in signal  no; not_printed() yes
//
// What stays in a stream until exit() is written too late for the exit status to tell.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <polder/os/print.hpp>

namespace polder::os {

// One line on standard error; the status of a program whose result is lost.
inline int not_printed(const char* program, int error) noexcept {
  os::line() << program << ": what was found cannot be written: " << strerrordesc_np(error);
  return 2;
}

inline int printed(const char* program) noexcept {
  // A write of an earlier print that failed has left its reason, and what it could not write is gone from the stream.
  const bool whole = std::ferror(stdout) == 0;
  return std::fflush(stdout) == 0 && whole ? 0 : not_printed(program, errno != 0 ? errno : EIO);
}

}  // namespace polder::os
