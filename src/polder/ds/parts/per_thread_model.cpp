// per_thread under the model checker: a number has one record, and whoever finds it finds it as it was made.
#include <polder/ds/parts/per_thread.hpp>

#include <cstddef>
#include <cstdint>

#include "explore.hpp"

// Relacy has operators new and delete of its own, but for this one.
void operator delete[](void* p, std::size_t) noexcept { operator delete[](p); }

namespace {

using polder::atomic;
using polder::order;
using polder::plain;

struct record {
  plain<int> made{1};
  atomic<int> uses;  // orders nothing
};

// Two have numbers of one row, and ask for their records at once; a third looks for what may not be there yet.
struct one_row : rl::test_suite<one_row, 3> {
  polder::ds::per_thread<record> records;

  void use(record& r) {
    POLDER_MODEL_CHECK(r.made.get() == 1);
    r.uses.fetch_add(1, order::relaxed);
  }
  void thread(unsigned self) {
    if (self == 2) {
      for (const std::uint32_t number : {2u, 3u}) {
        if (record* const r = records.find(number)) use(*r);
      }
    } else {
      use(records.at(2 + self));
      use(records.at(3 - self));
    }
  }
  void after() {
    for (const std::uint32_t number : {2u, 3u}) {
      const int uses = records.find(number)->uses.load(order::relaxed);
      POLDER_MODEL_CHECK(uses == 2 || uses == 3);
    }
    POLDER_MODEL_CHECK(records.find(1) == nullptr && records.find(4) == nullptr);
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  return passes<one_row>({.title = "per_thread: two in one row, one looks", .executions = 10'000}) ? 0 : 1;
}
