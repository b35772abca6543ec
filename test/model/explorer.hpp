#pragma once
// explorer — a model without its type, so that Relacy's explorer is compiled once for each number of threads (explorer.cpp),
// not for each model.
#include <cstddef>
#include <new>

#include <polder/sync/atomic.hpp>

namespace polder::model::exploring {

// What Relacy asks of a test. `at` is a room of `size` bytes, in which one is made and unmade for each execution.
struct any_test {
  std::size_t size;
  void (*make)(void* at);
  void (*unmake)(void* at);
  void (*before)(void* at);
  void (*thread)(void* at, unsigned index);
  void (*invariant)(void* at);
  void (*after)(void* at);
};

template <class Test>
constexpr any_test without_type{
    .size = sizeof(Test),
    .make = [](void* at) { new (at) Test; },
    .unmake = [](void* at) { static_cast<Test*>(at)->~Test(); },
    .before = [](void* at) { static_cast<Test*>(at)->before(); },
    .thread = [](void* at, unsigned index) { static_cast<Test*>(at)->thread(index); },
    .invariant = [](void* at) { static_cast<Test*>(at)->invariant(); },
    .after = [](void* at) { static_cast<Test*>(at)->after(); },
};

// Explores; `params` has the outcome. For one to five threads.
template <int Threads>
void explore(const any_test& test, rl::test_params& params);

}  // namespace polder::model::exploring
