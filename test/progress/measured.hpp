#pragma once
// measured — what a test of progress has found out, in lines for the table in the heap's documentation
// (tools/progress_table.py): `measured`, then an object of JSON, of which `tell` is given what stands between the braces.
#include <cstdarg>
#include <cstdio>

#include "../probe/expect.hpp"

namespace polder::progress {

[[gnu::format(printf, 1, 2)]] inline void tell(const char* format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  const int n = std::vsnprintf(text, sizeof text, format, list);
  va_end(list);
  probe::expect(n >= 0 && n < int(sizeof text), "too long a line");
  probe::say("measured {%s}", text);
}

}  // namespace polder::progress
