#pragma once
// thp — what the system says of transparent huge pages.
#include <cstring>

#include "resident.hpp"

namespace polder::probe {

struct thp {
  static constexpr const char* path = "/sys/kernel/mm/transparent_hugepage/enabled";
  char text[128];  // all choices, the one in force in brackets; empty: this kernel has none
  thp() { read_text(path, text, sizeof text); }
  bool is(const char* choice_in_brackets) const { return std::strstr(text, choice_in_brackets) != nullptr; }
  bool can_be_had() const { return text[0] != 0 && !is("[never]"); }
};

}  // namespace polder::probe
