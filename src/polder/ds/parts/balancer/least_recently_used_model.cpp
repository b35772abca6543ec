// least_recently_used under the model checker: who is in round r knows that each backend has had r operations, rounds
// only grow, and no backend is ahead of another by more than one.
#include <polder/ds/parts/balancer/least_recently_used.hpp>

#include <cstdint>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::order;

constexpr unsigned backends = 2;

// How many operations each backend has had; the counting steps order nothing, so that it is the round that does.
template <unsigned First, unsigned Second>
struct taking_turns : rl::test_suite<taking_turns<First, Second>, 2> {
  polder::ds::balancer::least_recently_used turns;
  atomic<std::uint64_t> had[backends];

  void operate(unsigned begin, std::uint64_t& latest) {
    for (;;) {
      const std::uint64_t round = turns.round();
      POLDER_MODEL_CHECK(round >= latest);
      latest = round;
      for (const atomic<std::uint64_t>& h : had) POLDER_MODEL_CHECK(h.load(order::relaxed) >= round);
      for (unsigned i = begin; i != begin + backends; ++i) {
        std::uint64_t now = round;
        if (had[i % backends].cas(now, round + 1, order::relaxed, order::relaxed)) return;
      }
      turns.leave(round);
    }
  }
  void thread(unsigned self) {
    std::uint64_t latest = 0;
    for (unsigned n = self == 0 ? First : Second; n != 0; --n) operate(self, latest);
  }
  void after() {
    const std::uint64_t one = had[0].load(order::relaxed), other = had[1].load(order::relaxed);
    POLDER_MODEL_CHECK(one + other == First + Second);
    POLDER_MODEL_CHECK(one <= other + 1 && other <= one + 1);
    POLDER_MODEL_CHECK(turns.round() <= one && turns.round() <= other);
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  // Whoever stalls when it is about to leave a round, while another leaves that one and the next.
  ok &= passes<taking_turns<1, 6>>(
      {.title = "least_recently_used: one, and six", .how = search::bounded, .floor = 300, .switches = 2});
  ok &= passes<taking_turns<3, 3>>({.title = "least_recently_used: three, and three", .executions = 10'000});
  return ok ? 0 : 1;
}
