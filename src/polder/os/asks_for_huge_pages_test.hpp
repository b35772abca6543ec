#pragma once
// asks_for_huge_pages — whether huge pages are wanted where p lies, as the kernel's list of mappings tells. Whether it has one to
// give is another matter, and differs from moment to moment.
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

#include <polder/base/align.hpp>

namespace polder::os {

inline bool asks_for_huge_pages(const void* p) {
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t from = 0, to = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
      here = from <= address(p) && address(p) < to;
    if (here && line.starts_with("VmFlags:")) return line.find(" hg") != std::string::npos;
  }
  return false;
}

}  // namespace polder::os
