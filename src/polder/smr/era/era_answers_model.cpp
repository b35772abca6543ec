// era_answers under the model checker: each helper has one cell of its own, and who knows a cell's number finds it.
#include <polder/smr/era/era_answers.hpp>

#include <cstddef>

#include "explore.hpp"

// Relacy replaces the other one alone.
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace {

using polder::atomic;
using polder::order;
using polder::smr::era_answers;

template <unsigned Helpers>
struct world {
  era_answers answers;
  // The newest answer's cell and one more, as the word of a request has it.
  atomic<unsigned> request{0};
  unsigned numbers[Helpers] = {};

  void help(unsigned self) {
    era_answers::cell* const mine = answers.of(&numbers[self]);
    POLDER_MODEL_CHECK(mine != nullptr && mine->helper.get() == &numbers[self]);
    POLDER_MODEL_CHECK(answers.of(&numbers[self]) == mine);
    numbers[self] = mine->number.get();
    mine->seen.store(self + 1, order::relaxed);
    request.store(numbers[self] + 1, order::release);
  }
  void look() {
    const unsigned answer = request.load(order::acquire);
    if (answer != 0) POLDER_MODEL_CHECK(answers.at(answer - 1).seen.load(order::relaxed) != 0);
  }
  void all_differ() {
    look();
    for (unsigned i = 0; i != Helpers; ++i) {
      POLDER_MODEL_CHECK(numbers[i] < Helpers);
      for (unsigned j = 0; j != i; ++j) POLDER_MODEL_CHECK(numbers[i] != numbers[j]);
    }
  }
};

struct two_helpers : rl::test_suite<two_helpers, 3>, world<2> {
  void thread(unsigned self) {
    if (self == 2) look();
    else help(self);
  }
  void after() { all_differ(); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<two_helpers>({.title = "answers: two helpers", .how = search::bounded, .floor = 300, .switches = 2});
  ok &= passes<two_helpers>({.title = "answers: two helpers", .executions = 20'000});
  return ok ? 0 : 1;
}
