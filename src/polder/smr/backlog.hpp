#pragma once
// backlog — how often something was handed to a worker, and up to which time all of that is done.
//
//   paper      none
//   progress   add(), done(): wait-free; finish() waits for the worker, and idle() for who hands over
//   invariant  what is handed over is added under the lock under which the worker takes it. So what the worker takes
//              when it reads given(), under that lock, is all that was added
//
// Whoever adds, or says what is done, wakes one that sleeps on the word afterwards: there is one worker, and one at a
// time that waits for it.
#include <cstdint>

#include <polder/sync/atomic.hpp>

namespace polder::smr {

class backlog {
 public:
  using mark = std::uint32_t;  // they go round: of two, the later one is ahead by less than half

  // By who hands over, or asks for the end.
  void add() noexcept { given_.fetch_add(1, order::relaxed); }
  // Returns when all that was added before is done. `sleep(word, seen)` returns when the word may no longer be `seen`.
  template <class Sleep>
  void finish(Sleep&& sleep) noexcept {
    const mark until = given();
    for (;;) {
      const mark now = done_.load(order::acquire);  // sync: work-done
      if (std::int32_t(now - until) >= 0) return;
      sleep(done_word(), now);
    }
  }

  // By the worker: what is added now; that all up to there is done; that it waits for more.
  mark given() const noexcept { return given_.load(order::relaxed); }
  void done(mark up_to) noexcept { done_.store(up_to, order::release); }  // sync: work-done
  template <class Sleep>
  void idle(mark seen, Sleep&& sleep) noexcept {
    if (given() == seen) sleep(given_word(), seen);
  }

  // When there is no worker: nobody is to wait for what has not been done.
  void forget() noexcept { done_.store(given(), order::relaxed); }

  // What the worker sleeps on, and who waits for it.
  const atomic<mark>* given_word() const noexcept { return &given_; }
  const atomic<mark>* done_word() const noexcept { return &done_; }

 private:
  // given_ — how often something was added. Written under the lock of what is handed over, read by all.
  atomic<mark> given_;
  // done_ — a value of given_. Written by the worker, read by who waits.
  //   order  work-done: who sees it knows of all that was done before
  //   ABA    of no harm: who waits compares marks
  atomic<mark> done_;
};

}  // namespace polder::smr
