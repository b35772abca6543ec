#pragma once
// by_name — a program that does the one of several things that its argument names.
#include <cstring>

#include "../probe/expect.hpp"

namespace polder::tools {

struct deed {
  const char* name;
  void (*make)();
};

template <std::size_t n>
void make_by_name(int argc, char** argv, const deed (&all)[n]) {
  for (const deed& d : all)
    if (argc == 2 && std::strcmp(argv[1], d.name) == 0) return d.make();
  probe::fail("nothing is called so");
}

}  // namespace polder::tools
