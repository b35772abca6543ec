#pragma once
// standing — threads that stand still for long, which by chance they rarely do: each may once, at a point that is drawn for
// it, until the others are through or stand still as well.
//
//   before()      … standing::begin(Threads);
//   thread(self)  … standing::through(self);
//   after()       standing::end(); …
//
// The points are where a reclaimer protects (pausing), and where a model says so.
#include <polder/sync/atomic.hpp>

#include "explore.hpp"

namespace polder::model {

class standing {
 public:
  static constexpr unsigned points = 64;  // a thread that draws a later one than it comes to stands nowhere

  static void begin(unsigned threads) {
    count_ = threads;
    for (unsigned t = 0; t != threads; ++t)
      threads_[t] = {rl::rand(2) == 0 ? rl::rand(points) : points, 0, false, false};
  }
  static void end() { count_ = 0; }
  static void through(unsigned self) { threads_[self].through = true; }

  static void point() {
    if (count_ == 0) return;
    const unsigned self = unsigned(rl::ctx().current_thread());
    if (threads_[self].seen++ != threads_[self].at) return;
    threads_[self].still = true;
    while (another_runs(self)) rl::yield(1, info(place::current()));
    threads_[self].still = false;
  }

 private:
  static bool another_runs(unsigned self) {
    for (unsigned t = 0; t != count_; ++t) {
      if (t != self && !threads_[t].still && !threads_[t].through) return true;
    }
    return false;
  }

  struct of {
    unsigned at, seen;
    bool still, through;
  };
  static inline of threads_[4];
  static inline unsigned count_ = 0;
};

// A reclaimer of which each protection is between two points.
template <class R>
struct pausing : R {
  template <unsigned N>
  struct guard : R::template guard<N> {
    using R::template guard<N>::guard;
    template <class W>
    W protect(unsigned slot, const atomic<W>& word) {
      standing::point();
      const W seen = R::template guard<N>::protect(slot, word);
      standing::point();
      return seen;
    }
  };
};

}  // namespace polder::model
