#pragma once
// chosen_signal — the number of a signal, once somebody has chosen one and its handler is there.
//
//   progress   get: wait-free. choose: under a lock until there is one
//   in malloc  no
#include <polder/sync/atomic.hpp>

namespace polder::smr {

class chosen_signal {
 public:
  int get() const noexcept { return number_.load(order::acquire); }  // sync: handler-there; 0: none yet

  // hold(): the lock, until what it returns ends. find(): a number whose handler is there, or 0.
  template <class Hold, class Find>
  void choose(Hold&& hold, Find&& find) noexcept {
    if (get() != 0) return;
    [[maybe_unused]] const auto one_at_a_time = hold();
    if (number_.load(order::relaxed) != 0) return;
    number_.store(find(), order::release);  // sync: handler-there
  }

 private:
  // number_ — 0 until the handler is there.
  //   written by  who chooses, once, under the lock
  //   read by     everybody
  //   order       handler-there: who has the number may send it, and finds what find() did
  atomic<int> number_{0};
};

}  // namespace polder::smr
