#pragma once
// two_locks — a queue with a lock for each end, and a wait for what is put into it.
//
//   paper      Michael and Scott, PODC 1996, fig. 2
//   progress   blocking: one at a time at each end
//   invariant  waiting_ is how many threads sleep or are about to; it and the look at whether there is anything are under the
//              lock of the putters, so a put that sees none has nobody to wake
//
// Why std::mutex: see parts/locking.hpp.
#include <condition_variable>
#include <mutex>
#include <optional>

#include <polder/base/config.hpp>
#include <polder/ds/parts/deadline.hpp>
#include <polder/ds/parts/locked_soon.hpp>
#include <polder/ds/parts/two_sided_queue.hpp>

namespace polder::ds {

template <class E, class Memory>
class two_locks {
 public:
  using element = E;

  two_locks() = default;
  two_locks(const two_locks&) = delete;
  two_locks& operator=(const two_locks&) = delete;

  // False: there was no memory for it, and e is as it was.
  bool put(E& e) {
    bool in, awaited;
    {
      const auto locked = locked_soon(putters_);
      in = queue_.put(e);
      awaited = waiting_ != 0;
    }
    if (awaited) filled_.notify_one();
    return in;
  }
  // Nothing: it is empty.
  std::optional<E> take() {
    const auto locked = locked_soon(getters_);
    return queue_.take();
  }
  std::optional<E> take_when_there_is_one() {
    for (;;) {
      if (std::optional<E> e = take()) return e;
      auto locked = locked_soon(putters_);
      ++waiting_;
      filled_.wait(locked, [this] { return !queue_.empty(); });
      --waiting_;
    }
  }
  // Nothing: it was empty all the time.
  std::optional<E> take_until(deadline end) {
    for (;;) {
      if (std::optional<E> e = take()) return e;
      auto locked = locked_soon(putters_);
      ++waiting_;
      const bool some = filled_.wait_until(locked, end, [this] { return !queue_.empty(); });
      --waiting_;
      if (!some) return std::nullopt;
    }
  }

 private:
  alignas(false_sharing_range) std::mutex putters_;
  std::condition_variable filled_;
  unsigned waiting_ = 0;
  alignas(false_sharing_range) std::mutex getters_;
  two_sided_queue<E, Memory> queue_;
};

}  // namespace polder::ds
