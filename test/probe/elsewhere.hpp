#pragma once
// elsewhere — has another thread do something, which has ended afterwards.
#include <pthread.h>

#include "expect.hpp"

namespace polder::probe {

inline void elsewhere(void (*act)(void*), void* argument) {
  struct call {
    void (*act)(void*);
    void* argument;
  } it{act, argument};
  pthread_t thread;
  auto run = [](void* c) -> void* {
    static_cast<call*>(c)->act(static_cast<call*>(c)->argument);
    return nullptr;
  };
  expect(::pthread_create(&thread, nullptr, run, &it) == 0, "pthread_create");
  ::pthread_join(thread, nullptr);
}

}  // namespace polder::probe
