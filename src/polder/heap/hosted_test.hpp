#pragma once
// hosted — a heap of parts in use by a test.
#include <polder/heap/heap.hpp>
#include <polder/heap/in_use_test.hpp>

namespace polder::heap {

template <class Sheet>
struct hosted : in_use<heap<Sheet, test_host>, typename heap<Sheet, test_host>::cache> {
  using heap_type = heap<Sheet, test_host>;
  using cache = typename heap_type::cache;

  static options usual() { return defaults(tunables_of<Sheet>()); }

  explicit hosted(const options& o = usual()) : in_use<heap_type, cache>(o) {}

  auto& front() { return this->it.begun()->front_part(); }
};

}  // namespace polder::heap
