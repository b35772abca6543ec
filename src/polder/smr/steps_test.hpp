#pragma once
// steps_test — the steps of a thread in a test, which it takes when it is told to.
#include <polder/sync/atomic.hpp>
#include <thread>

namespace polder::smr {

class steps {
 public:
  void wait_for(int n) const {
    while (!reached(n)) std::this_thread::yield();
  }
  bool reached(int n) const { return at_.load(order::acquire) >= n; }  // sync: step-taken
  void reach(int n) { at_.store(n, order::release); }                  // sync: step-taken

 private:
  atomic<int> at_{0};
};

}  // namespace polder::smr
