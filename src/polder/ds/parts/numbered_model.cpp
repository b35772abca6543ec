// numbered under the model checker: a number has one place, whoever asks for it first, and nobody sees it before it is
// empty.
#include <polder/ds/parts/numbered.hpp>

#include <cstddef>

#include "explore.hpp"

// Relacy has operators new and delete of its own, but for this one.
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace {

using polder::order;

struct thing {
  explicit thing(int i) : of(i) {}
  int of;
};
struct usual {};

// Two have numbers of one page; a third looks whether they have things there.
struct one_page : rl::test_suite<one_page, 3> {
  polder::ds::numbered<thing, usual, 3, 2> things;

  void look(unsigned number, thing* mine) {
    thing* const there = things.at(number).load(order::relaxed);
    POLDER_MODEL_CHECK(mine == nullptr || there == mine);
  }
  void thread(unsigned self) {
    thing* made = nullptr;
    if (self != 2) things.at(2 + self).store(made = new thing(int(self)), order::relaxed);
    look(2, self == 0 ? made : nullptr);
    look(3, self == 1 ? made : nullptr);
  }
  void after() {
    for (const int n : {0, 1}) {
      const thing* const t = things.at(unsigned(2 + n)).load(order::relaxed);
      POLDER_MODEL_CHECK(t != nullptr && t->of == n);
    }
    POLDER_MODEL_CHECK(things.at(1).load(order::relaxed) == nullptr);
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  return passes<one_page>({.title = "numbered: two in one page, one looks", .executions = 10'000}) ? 0 : 1;
}
