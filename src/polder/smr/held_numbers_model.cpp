// held_numbers under the model checker: a number has one holder at a time, who finds what its last holder left.
#include <polder/smr/held_numbers.hpp>

#include "explore.hpp"

namespace {

using polder::plain;

template <unsigned Threads, unsigned Rounds>
struct taking : rl::test_suite<taking<Threads, Rounds>, int(Threads)> {
  polder::smr::held_numbers<63> numbers;
  plain<unsigned> holders[64];  // that a number has had

  void thread(unsigned) {
    for (unsigned round = 0; round != Rounds; ++round) {
      const auto n = numbers.take();
      POLDER_MODEL_CHECK(n != numbers.none);
      const unsigned before = holders[n].get();
      holders[n].set(before + 1);
      POLDER_MODEL_CHECK(holders[n].get() == before + 1);
      numbers.give(n);
    }
  }
  void after() {
    unsigned all = 0;
    for (const plain<unsigned>& h : holders) all += h.get();
    POLDER_MODEL_CHECK(all == Threads * Rounds);
    POLDER_MODEL_CHECK(numbers.take() == 1);
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<taking<2, 2>>(
      {.title = "held_numbers: two threads, twice", .how = search::bounded, .floor = 200, .switches = 3});
  ok &= passes<taking<3, 2>>({.title = "held_numbers: three threads, twice", .executions = 10'000});
  return ok ? 0 : 1;
}
