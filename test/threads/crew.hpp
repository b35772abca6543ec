#pragma once
// crew — threads on small stacks, so that what is measured is the heap's and not theirs.
#include <limits.h>
#include <pthread.h>

#include "../probe/expect.hpp"
#include "../probe/made.hpp"
#include "../probe/random.hpp"
#include "../probe/resident.hpp"
#include "../probe/sizes.hpp"

namespace polder::threads_test {

inline pthread_t start(void* (*run)(void*), void* argument) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, 64 << 10);
  pthread_t thread;
  int error = ::pthread_create(&thread, &attributes, run, argument);
  probe::expect(error == 0, "req 12: pthread_create: %s", std::strerror(error));
  ::pthread_attr_destroy(&attributes);
  return thread;
}

using probe::made;
using probe::unmade;

}  // namespace polder::threads_test
