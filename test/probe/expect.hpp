#pragma once
// expect — the verdict of a test program that must not lean on the heap it tests: no stdio streams, no allocation.
#include <unistd.h>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace polder::probe {

// How a program ends that found something: the status tells what.
enum class verdict : int { wrong = 1, hung = 3, crashed = 4, not_applicable = 77 };

inline void say_list(const char* format, va_list list) {
  char text[1024];
  int n = std::vsnprintf(text, sizeof text - 1, format, list);
  if (n < 0) n = 0;
  if (n > int(sizeof text) - 2) n = int(sizeof text) - 2;
  text[n++] = '\n';
  [[maybe_unused]] auto written = ::write(2, text, std::size_t(n));
}

[[gnu::format(printf, 1, 2)]] inline void say(const char* format, ...) {
  va_list list;
  va_start(list, format);
  say_list(format, list);
  va_end(list);
}

// Says what is wrong and ends the process at once: exit handlers could run into the very fault.
[[noreturn, gnu::format(printf, 2, 3)]] inline void end(verdict v, const char* format, ...) {
  va_list list;
  va_start(list, format);
  say_list(format, list);
  va_end(list);
  ::_exit(int(v));
}
[[noreturn, gnu::format(printf, 1, 2)]] inline void fail(const char* format, ...) {
  va_list list;
  va_start(list, format);
  say_list(format, list);
  va_end(list);
  ::_exit(int(verdict::wrong));
}

[[gnu::format(printf, 2, 3)]] inline void expect(bool ok, const char* format, ...) {
  if (ok) return;
  va_list list;
  va_start(list, format);
  say_list(format, list);
  va_end(list);
  ::_exit(int(verdict::wrong));
}

// A test that cannot run here says why and passes.
[[noreturn]] inline void skip(const char* why) {
  say("skipped: %s", why);
  ::_exit(0);
}

}  // namespace polder::probe
