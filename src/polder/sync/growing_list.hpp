#pragma once
// growing_list — a list that only grows: anybody puts a member in front, and nobody takes one out.
//
//   paper      none
//   progress   push lock-free; each wait-free: it ends with what was there when it began
//   in malloc  yes: allocates nothing, locks nothing, async-signal-safe
//
// Invariant: a walk meets every member once that was pushed before it began, as it was left by who pushed it.
#include <polder/sync/atomic.hpp>

namespace polder {

// next: a member's link, which nobody else writes. All-zero memory is an empty list.
template <class T, plain<T*> T::*next>
class growing_list {
 public:
  growing_list() noexcept = default;
  growing_list(const growing_list&) = delete;
  growing_list& operator=(const growing_list&) = delete;

  // Of who alone has it, once.
  void push(T& member) noexcept {
    T* first = first_.load(order::relaxed);
    do (member.*next).set(first);
    while (!first_.cas(first, &member, order::release, order::relaxed));  // sync: list-grown
  }

  template <class F>
  void each(F&& f) const {
    for (T* m = first_.load(order::acquire); m != nullptr; m = (m->*next).get()) f(*m);  // sync: list-grown
  }

 private:
  // first_
  //   written by  who pushes, by CAS
  //   read by     who walks
  //   order       list-grown: a member and its link were written before it is met. All writes are read-modify-writes,
  //                 so who reads the last comes after all of them
  //   ABA         none: nothing leaves
  atomic<T*> first_;
};

}  // namespace polder
