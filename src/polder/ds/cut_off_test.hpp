#pragma once
// cut_off — stops a thread where it first writes to certain memory, so that a fork finds it there.
#include <signal.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <semaphore>

namespace polder::ds {

// Whole pages.
struct pages_to_write {
  void* first = nullptr;
  std::size_t bytes = 0;
  void write_protect(bool on) const {
    if (::mprotect(first, bytes, on ? PROT_READ : PROT_READ | PROT_WRITE) != 0) std::abort();
  }
};

// While it lives: who writes to what it protects stands still there, once.
class stops_at_a_write {
 public:
  stops_at_a_write() {
    struct sigaction stopping = {};
    stopping.sa_handler = stop;
    if (::sigaction(SIGSEGV, &stopping, &before_) != 0) std::abort();
  }
  ~stops_at_a_write() { ::sigaction(SIGSEGV, &before_, nullptr); }
  stops_at_a_write(const stops_at_a_write&) = delete;
  stops_at_a_write& operator=(const stops_at_a_write&) = delete;

  void at(const pages_to_write& where) {
    where_ = where;
    where_.write_protect(true);
  }
  void wait() { there_.acquire(); }
  void go_on() { on_.release(); }
  // In the child, where that thread is not.
  void forget() { where_.write_protect(false); }

 private:
  static void stop(int) {
    there_.release();
    on_.acquire();
    where_.write_protect(false);
  }
  static inline std::binary_semaphore there_{0}, on_{0};
  static inline pages_to_write where_;
  struct sigaction before_ = {};
};

}  // namespace polder::ds
