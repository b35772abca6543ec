#pragma once
// full_form — whether tests run in the full form, which `./polder test --full` sets: POLDER_TEST_FULL=1.
#include <cstdlib>
#include <cstring>

inline bool is_full_form() {
  const char* const full = std::getenv("POLDER_TEST_FULL");
  return full != nullptr && std::strcmp(full, "1") == 0;
}
