#pragma once
// neighbour — another thread, which allocates and frees when it is told to, and otherwise sleeps outside the heap.
#include <pthread.h>
#include <semaphore.h>

#include <cstddef>
#include <cstdlib>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"

namespace polder::progress {

class neighbour {
 public:
  // Before anything is asked of it. There is one in a process.
  void begin() {
    ::sem_init(&asked_, 0, 0);
    ::sem_init(&done_, 0, 0);
    pthread_t thread;
    probe::expect(::pthread_create(&thread, nullptr, serve, this) == 0, "pthread_create");
    ::pthread_detach(thread);
    free(allocate(1));  // so that it has come to know the heap
  }
  void* allocate(std::size_t size) {
    size_ = size;
    return ask();
  }
  void free(void* p) {
    size_ = 0;
    block_ = p;
    ask();
  }

 private:
  void* ask() {
    ::sem_post(&asked_);
    while (::sem_wait(&done_) != 0) {
    }
    return block_;
  }
  static void* serve(void* self) {
    auto& me = *static_cast<neighbour*>(self);
    for (;;) {
      while (::sem_wait(&me.asked_) != 0) {
      }
      if (me.size_ != 0) me.block_ = probe::opaque(std::malloc(me.size_));
      else std::free(me.block_);
      ::sem_post(&me.done_);
    }
  }

  sem_t asked_, done_;
  std::size_t size_ = 0;  // 0: the block is to be freed
  void* block_ = nullptr;
};

inline neighbour the_neighbour;

// A block of `size` bytes by a thread that has ended since.
inline void* by_a_thread_that_ends(std::size_t size) {
  static std::size_t asked;
  asked = size;
  pthread_t thread;
  const auto allocate = [](void*) -> void* { return probe::opaque(std::malloc(asked)); };
  probe::expect(::pthread_create(&thread, nullptr, allocate, nullptr) == 0, "pthread_create");
  void* block = nullptr;
  ::pthread_join(thread, &block);
  return block;
}

}  // namespace polder::progress
