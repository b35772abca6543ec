#pragma once
// late_destructors — threads whose key's destructor re-arms itself as often as POSIX promises and allocates each time:
// memory in use after the heap's own thread-exit hook has run.
#include <cstdlib>

#include "crew.hpp"

namespace polder::threads_test {

inline pthread_key_t key;

inline void again(void* value) {
  auto times = reinterpret_cast<std::uintptr_t>(value);
  for (auto size : probe::small_sizes) unmade(made(size, std::uint32_t(times)));
  if (times < PTHREAD_DESTRUCTOR_ITERATIONS) ::pthread_setspecific(key, reinterpret_cast<void*>(times + 1));
}

inline void* with_destructor(void*) {
  ::pthread_setspecific(key, reinterpret_cast<void*>(1));
  unmade(made(100, 1));
  return nullptr;
}

// Never called malloc before its destructors did.
inline void* only_in_destructor(void*) {
  ::pthread_setspecific(key, reinterpret_cast<void*>(1));
  return nullptr;
}

inline void end_threads_late(int threads) {
  for (int i = 0; i < threads; i++)
    ::pthread_join(start(i % 2 ? with_destructor : only_in_destructor, nullptr), nullptr);
}

}  // namespace polder::threads_test
