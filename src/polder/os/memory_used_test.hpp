#pragma once
// memory_used — what the kernel says that the process uses, in bytes.
#include <cstddef>
#include <cstdio>

#include <polder/os/pages.hpp>

namespace polder::os {

enum class used : int {
  address_space = 0,
  resident = 1,  // a page that was only read is none
  data = 5,      // and the stack
};

// 0: it does not say.
inline std::size_t bytes_used(used what) {
  std::size_t pages = 0;
  if (std::FILE* const f = std::fopen("/proc/self/statm", "r")) {
    for (int field = 0; field <= int(what); ++field)
      if (std::fscanf(f, "%zu", &pages) != 1) pages = 0;
    std::fclose(f);
  }
  return pages * page_size();
}

}  // namespace polder::os
