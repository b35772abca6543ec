// The two sides of smr/fences.hpp under the model checker, over a kernel that may refuse the barrier: of a reader and a
// reclaimer one sees the other.
#include <polder/smr/fences.hpp>

#include "explore.hpp"

namespace polder::os {

// Set before each execution: whether membarrier(2) is there, how often it is refused after all, and whether the reclaimer may
// go from processor to processor instead.
inline bool allowed, tours;
inline int refusals;

bool register_heavy_fence() noexcept { return allowed; }
bool heavy_fence() noexcept { return refusals-- <= 0 && model::heavy_fence(); }
bool tour_processors() noexcept { return tours && model::heavy_fence(); }

}  // namespace polder::os

namespace {

using polder::atomic;
using polder::order;
using polder::smr::fences;

// 1 is reachable until it is unlinked, and freed if nobody is inside.
template <bool Asymmetric, int Refusals, bool Tours = false>
struct reader_and_reclaimer : rl::test_suite<reader_and_reclaimer<Asymmetric, Refusals, Tours>, 2> {
  const fences both{(polder::os::allowed = Asymmetric, polder::os::refusals = Refusals, polder::os::tours = Tours,
                     fences::choice{})};
  atomic<int> inside{0}, reachable{1};
  bool reads = false, frees = false;

  void thread(unsigned self) {
    if (self == 0) {
      inside.store(1, order::relaxed);
      both.light();
      reads = reachable.load(order::relaxed) == 1;
    } else {
      reachable.store(0, order::relaxed);
      frees = both.heavy() && inside.load(order::relaxed) == 0;
    }
  }
  void after() {
    POLDER_MODEL_CHECK(!(reads && frees));
    POLDER_MODEL_CHECK(both.asymmetric() == Asymmetric && !(Refusals == 2 && !Tours && frees));
  }
};

// What the kernel refuses may be asked for without it.
struct symmetric_by_choice : rl::test_suite<symmetric_by_choice, 1> {
  const fences both{(polder::os::allowed = true, fences::choice::symmetric)};
  void thread(unsigned) { POLDER_MODEL_CHECK(!both.asymmetric()); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  for (const membarrier_world w : {membarrier_world::paired, membarrier_world::systemwide}) {
    ok &= passes<reader_and_reclaimer<true, 0>>(
        {.title = "fences: membarrier", .how = search::complete, .floor = 10, .world = w});
    ok &= passes<reader_and_reclaimer<true, 1>>(
        {.title = "fences: membarrier, refused once", .how = search::complete, .floor = 10, .world = w});
    ok &= passes<reader_and_reclaimer<true, 2>>(
        {.title = "fences: membarrier, refused twice", .how = search::complete, .floor = 10, .world = w});
    ok &= passes<reader_and_reclaimer<true, 2, true>>(
        {.title = "fences: a tour, when refused twice", .how = search::complete, .floor = 10, .world = w});
    ok &= passes<reader_and_reclaimer<false, 0>>(
        {.title = "fences: no membarrier", .how = search::complete, .floor = 10, .world = w});
  }
  ok &= passes<symmetric_by_choice>({.title = "fences: symmetric", .how = search::complete, .floor = 1});
  return ok ? 0 : 1;
}
