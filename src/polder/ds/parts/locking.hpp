#pragma once
// locking — a sequential structure behind one lock, and a wait for what is put into it.
//
//   progress   blocking: one at a time
//   invariant  the sequence is touched under lock_ alone; waiting_ is how many threads sleep or are about to, so a put that
//              sees none has nobody to wake
//
// Why std::mutex and not os/owned_lock: nothing here runs inside malloc or must know its holder after a fork, a wait with a
// limit needs a condition variable, which comes with std::mutex, and tools know it.
//
// Sequence has element, bool put(element&), std::optional<element> take() and empty() (parts/sequential_queue.hpp); nothing of
// it throws.
#include <condition_variable>
#include <mutex>
#include <optional>

#include <polder/base/config.hpp>
#include <polder/ds/parts/deadline.hpp>
#include <polder/ds/parts/locked_soon.hpp>

namespace polder::ds {

template <class Sequence>
class locking {
 public:
  using element = typename Sequence::element;

  locking() = default;
  locking(const locking&) = delete;
  locking& operator=(const locking&) = delete;

  // False: there was no memory for it, and e is as it was.
  bool put(element& e) {
    bool in, awaited;
    {
      const auto locked = locked_soon(lock_);
      in = sequence_.put(e);
      awaited = waiting_ != 0;
    }
    if (awaited) filled_.notify_one();
    return in;
  }
  // Nothing: it is empty.
  std::optional<element> take() {
    const auto locked = locked_soon(lock_);
    return sequence_.take();
  }
  std::optional<element> take_when_there_is_one() {
    auto locked = locked_soon(lock_);
    ++waiting_;
    filled_.wait(locked, [this] { return !sequence_.empty(); });
    --waiting_;
    return sequence_.take();
  }
  // Nothing: it was empty all the time.
  std::optional<element> take_until(deadline end) {
    auto locked = locked_soon(lock_);
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
