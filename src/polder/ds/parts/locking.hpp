#pragma once
// locking — a sequential structure behind one lock, and a wait for what is put into it.
//
//   progress   blocking: one at a time
//   invariant  the sequence is touched under lock_ alone; waiting_ is how many threads sleep or are about to, so a put that
//              sees none has nobody to wake
//
// Why std::mutex and not os/owned_lock: nothing here runs inside malloc or must know its holder after a fork, a wait with a
// limit needs a condition variable, which comes with std::mutex, and tools know it. Nodes are made and freed outside.
//
// Sequence has node, put(node*), take() and empty() (parts/sequential_queue.hpp).
#include <chrono>
#include <condition_variable>
#include <mutex>

#include <polder/base/config.hpp>

namespace polder::ds {

template <class Sequence>
class locking {
 public:
  using node = typename Sequence::node;
  using clock = std::chrono::steady_clock;

  locking() = default;
  locking(const locking&) = delete;
  locking& operator=(const locking&) = delete;

  void put(node* n) {
    bool awaited;
    {
      const std::lock_guard<std::mutex> locked(lock_);
      sequence_.put(n);
      awaited = waiting_ != 0;
    }
    if (awaited) filled_.notify_one();
  }
  // Null: it is empty.
  node* take() {
    const std::lock_guard<std::mutex> locked(lock_);
    return sequence_.take();
  }
  node* take_when_there_is_one() {
    std::unique_lock<std::mutex> locked(lock_);
    ++waiting_;
    filled_.wait(locked, [this] { return !sequence_.empty(); });
    --waiting_;
    return sequence_.take();
  }
  // Null: it was empty all the time.
  node* take_until(clock::time_point end) {
    std::unique_lock<std::mutex> locked(lock_);
    ++waiting_;
    filled_.wait_until(locked, end, [this] { return !sequence_.empty(); });
    --waiting_;
    return sequence_.take();
  }

 private:
  alignas(false_sharing_range) std::mutex lock_;
  std::condition_variable filled_;
  Sequence sequence_;
  unsigned waiting_ = 0;
};

}  // namespace polder::ds
