#pragma once
// the_heap — polder.h's functions of the heap this program runs on, which was preloaded and is not linked.
#include <dlfcn.h>
#include <polder.h>

#include "expect.hpp"

namespace polder::the_heap {

#define POLDER_OF_THE_HEAP(name) \
  inline const auto name = reinterpret_cast<decltype(&polder_##name)>(::dlsym(RTLD_DEFAULT, "polder_" #name))
POLDER_OF_THE_HEAP(read_statistics);
POLDER_OF_THE_HEAP(write_statistics);
POLDER_OF_THE_HEAP(read_modes);
POLDER_OF_THE_HEAP(set_limit);
POLDER_OF_THE_HEAP(set_target);
POLDER_OF_THE_HEAP(on_limit);
POLDER_OF_THE_HEAP(on_target);
POLDER_OF_THE_HEAP(profile_start);
POLDER_OF_THE_HEAP(profile_stop);
POLDER_OF_THE_HEAP(profile_write);
#undef POLDER_OF_THE_HEAP

inline polder_statistics statistics() {
  polder_statistics s{};
  s.size = sizeof s;
  probe::expect(read_statistics != nullptr && read_statistics(&s) == 0, "the heap tells no statistics");
  return s;
}

inline polder_modes modes() {
  polder_modes m{};
  m.size = sizeof m;
  probe::expect(read_modes != nullptr && read_modes(&m) == 0, "the heap tells no modes");
  return m;
}

inline std::size_t mib(std::size_t bytes) { return bytes >> 20; }

}  // namespace polder::the_heap
