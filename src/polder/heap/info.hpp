#pragma once
// info — what the catalogue says of a heap.
#include <string_view>

namespace polder::heap {

struct heap_info {
  std::string_view name;  // in libpolder-NAME.so, --heap NAME
  std::string_view title;
  std::string_view paper;  // authors, where
  int year;
  std::string_view summary;        // one sentence
  std::string_view progress;       // of malloc and free: wait-free, lock-free, blocking
  std::string_view sheet_of = {};  // the heap that it is a variant of; empty: it is one itself
};

}  // namespace polder::heap
