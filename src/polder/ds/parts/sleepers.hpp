#pragma once
// sleepers — threads that sleep until something they look for may be there, and who wakes them.
//
//   paper      the event count: Reed and Kanodia, "Synchronization with eventcounts and sequencers", CACM 22(2), 1979
//   progress   happened(): wait-free, one fence and one load where nobody waits; then one fetch-and-add and one system call
//   in malloc  yes
//
//     waker                                  sleeper
//       makes the thing                        waiting_ + 1
//       fence                                  fence
//       waiting_ == 0: done                    key = event_
//       event_ + 1                             looks; if it is there: waiting_ - 1, done
//       wakes one                              sleeps while event_ == key, and looks again
//
// No wake is lost. One of the fences is first. If the waker's, the sleeper's look comes after it and sees the thing. If the
// sleeper's, the waker sees it waiting and counts event_ up: before the sleeper read its key, then the look sees the thing;
// or after, then the sleeper does not fall asleep, or is asleep and one of those that are is woken.
//
// One woken for each thing: who is woken looks, and takes one thing or finds that there is none. So as long as somebody is
// asleep there are no more things than threads on their way to look. That needs a look that sees what is there: after one
// that may err, who found something wakes the next (ds/blocking.hpp).
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

class sleepers {
 public:
  using key = std::uint32_t;

  sleepers() noexcept = default;
  sleepers(const sleepers&) = delete;
  sleepers& operator=(const sleepers&) = delete;

  // After the caller has made what others wait for. `wake(word)` wakes one that sleeps on the word.
  template <class Wake>
  void happened(Wake&& wake) noexcept {
    // sync: sleep-or-wake: store of the thing, load of waiting_; the sleeper's store of waiting_, look at the thing
    // sync: sleep-event: the count below, which it releases
    fence(order::seq_cst);
    if (waiting_.load(order::relaxed) == 0) return;
    event_.fetch_add(1, order::relaxed);
    wake(word());
  }

  // Between come() and go() the caller is waited for.
  key come() noexcept {
    waiting_.fetch_add(1, order::relaxed);
    // sync: sleep-or-wake: store of waiting_, look at the thing; see above
    fence(order::seq_cst);
    return event_.load(order::acquire);  // sync: sleep-event
  }
  // For who has come, and has slept.
  key again() const noexcept {
    return event_.load(order::acquire);  // sync: sleep-event
  }
  void go() noexcept { waiting_.fetch_sub(1, order::relaxed); }

  // What to sleep on while it holds the key.
  const atomic<key>* word() const noexcept { return &event_; }

 private:
  // event_ — how often it happened while somebody waited. Written by who wakes, read by sleepers and the kernel.
  //   order  sleep-event: who reads the count sees what was made before the fence that precedes it
  //   ABA    a sleeper would have to be away for 2^32 events between its key and its sleep
  atomic<key> event_;
  // waiting_ — how many wait or are about to. Written by them, read by who wakes. Order: sleep-or-wake.
  atomic<std::uint32_t> waiting_;
};

}  // namespace polder::ds
