// Random work in phases on a heap of the test's own, by two threads and by many in turn: between two of them no thread is
// inside, and every word of the heap must agree with the others. After every third phase no block is left, and memory is
// trimmed.
//   POLDER_TEST_HEAP=NAME phases [threads] [seconds] [seed]     NAME: a whole heap that is made of parts
#include <cstdlib>
#include <string_view>

#include <polder/base/type_list.hpp>
#include <polder/heap/all.hpp>
#include <polder/heap/in_use_test.hpp>

#include "crowd.hpp"

using namespace polder;

namespace {

constexpr double phase_seconds = 1;

template <class Heap>
using used = heap::in_use<Heap, typename Heap::cache>;

template <class Heap>
struct of_a_heap {
  used<Heap>* h;

  void* malloc(std::size_t n) { return h->allocate(n); }
  void* calloc(std::size_t n) { return h->it.allocate_zeroed(n); }
  void* aligned(std::size_t alignment, std::size_t n) { return h->it.allocate_aligned(alignment, n); }
  void* realloc(void* p, std::size_t n) { return h->it.reallocate(p, n); }
  void free(void* p) { h->free(p); }
  std::size_t usable(void* p) { return h->it.usable_size(p); }
  void trim() { h->it.trim(0); }
  void thread_ends() { h->it.leave_thread(); }
};

template <class Heap>
void live_in_phases(int threads, double seconds, std::uint64_t seed) {
  static used<Heap> h(heap::defaults(Heap::tunables));
  static stress::crowd<of_a_heap<Heap>> crowd({&h}, seed);
  int phases = 0;
  for (const double end = probe::now() + seconds; probe::now() < end; ++phases) {
    crowd.live(phases % 2 == 0 ? 2 : threads, phase_seconds);
    if (phases % 3 == 2) {
      crowd.clear();
      h.it.trim(0);
      h.it.leave_thread();
    }
    h.it.validate();
  }
  crowd.clear();
  probe::say("%d phases, %ld steps, %ld KiB resident at the end", phases, crowd.steps(), probe::resident_kib());
}

}  // namespace

int main(int argc, char** argv) {
  const char* const asked = std::getenv("POLDER_TEST_HEAP");
  const std::string_view name = asked ? asked : "";
  const auto [threads, seconds, seed] = stress::read_arguments(argc, argv, 32);
  bool known = false;
  for_each(heap::all<heap::test_host>{}, [&]<class Heap>() {
    if constexpr (requires(Heap& h) { h.validate(); } && Heap::info.sheet_of.empty()) {
      if (Heap::info.name != name) return;
      known = true;
      probe::say("%s: %d threads, %.0f seconds, seed %lu", asked, threads, seconds, seed);
      live_in_phases<Heap>(threads, seconds, seed);
    }
  });
  if (!known) probe::fail("POLDER_TEST_HEAP: there is no heap of parts '%s'", asked ? asked : "");
}
