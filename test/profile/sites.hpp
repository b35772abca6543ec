#pragma once
// sites — functions that allocate, each in a section of its own, so that a return address tells whose it is.
#include <cstddef>
#include <cstdlib>

#include "../probe/one_copy.hpp"
#include "../probe/opaque.hpp"

namespace polder::profile_test {

// The linker's, for each section that C could name.
#define POLDER_SITE(name)                                                                      \
  extern "C" const char __start_##name[], __stop_##name[];                                     \
  POLDER_ONE_COPY [[gnu::section(#name), gnu::used]] inline void* name(std::size_t n) {        \
    void* const p = std::malloc(n);                                                            \
    __asm__ volatile("" : : "r"(p) : "memory"); /* not the last thing it does: no tail call */ \
    return p;                                                                                  \
  }
POLDER_SITE(first_site)
POLDER_SITE(second_site)
POLDER_SITE(third_site)
#undef POLDER_SITE

struct site {
  const char *begin, *end;
  bool has(const char* address) const { return address > begin && address <= end; }
};
inline const site sites[] = {{__start_first_site, __stop_first_site},
                             {__start_second_site, __stop_second_site},
                             {__start_third_site, __stop_third_site}};

}  // namespace polder::profile_test
