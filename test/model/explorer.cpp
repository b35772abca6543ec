// explorer — Relacy's explorer, for each number of threads that models have.
#include "explorer.hpp"

#include <cstdlib>

namespace polder::model::exploring {
namespace {

const any_test* current;
void* room;

template <int Threads>
struct test : rl::test_suite<test<Threads>, Threads> {
  test() { current->make(room); }
  ~test() { current->unmake(room); }
  void before() { current->before(room); }
  void thread(unsigned index) { current->thread(room, index); }
  void invariant() { current->invariant(room); }
  void after() { current->after(room); }
};

}  // namespace

template <int Threads>
void explore(const any_test& of, rl::test_params& params) {
  current = &of;
  room = std::malloc(of.size);
  if (room == nullptr) std::abort();
  rl::simulate<test<Threads>>(params);
  std::free(room);
}

template void explore<1>(const any_test&, rl::test_params&);
template void explore<2>(const any_test&, rl::test_params&);
template void explore<3>(const any_test&, rl::test_params&);
template void explore<4>(const any_test&, rl::test_params&);
template void explore<5>(const any_test&, rl::test_params&);

}  // namespace polder::model::exploring
