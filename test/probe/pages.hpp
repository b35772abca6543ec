#pragma once
// pages — how large the heap takes pages to be: as the test was told, where the system's are no larger.
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

namespace polder::probe {

inline std::size_t page_size() {
  const char* const told = std::getenv("POLDER_TEST_PAGE_SIZE");
  const std::size_t wanted = told != nullptr ? std::strtoul(told, nullptr, 10) : 0;
  const auto has = std::size_t(::sysconf(_SC_PAGESIZE));
  return wanted > has ? wanted : has;
}

// Elsewhere a huge one is larger than what is of use.
inline bool huge_pages_are_of_use() { return page_size() == 4096; }

}  // namespace polder::probe
