#pragma once
// background — a thread of a domain that frees what it is handed: the thesis's rival to amortized freeing (5.2).
#include <pthread.h>

#include <polder/os/futex.hpp>
#include <polder/smr/backlog.hpp>
#include <polder/smr/bag.hpp>
#include <polder/smr/free_watch.hpp>
#include <polder/smr/ledger.hpp>
#include <polder/smr/limbo.hpp>
#include <polder/smr/thread_slot.hpp>

namespace polder::smr {

class background {
 public:
  explicit background(ledger& entries, free_watch* watch = nullptr) noexcept : ledger_(entries), watch_(watch) {}
  background(const background&) = delete;
  background& operator=(const background&) = delete;
  ~background();

  // Everything in the bag is the thread's. False: there is no thread and none can be made, or it was stopped; the bag is
  // the caller's.
  [[nodiscard]] bool hand_over(bag<retired_object>& safe) noexcept;

  // For good: the thread frees what it was handed, and is gone. Not from its own deleters.
  void stop() noexcept;

  // Whether it has this number.
  bool is(thread_slot::number n) const noexcept { return n == number_.load(order::relaxed); }
  // How often others handed something over.
  std::uint64_t handed_over_by_others() noexcept;

  // Returns when all that was handed over before has been freed. One at a time, and not from the
  // thread's own deleters.
  void finish() noexcept;

  const weights& count() const noexcept { return count_; }

  // What waits and has no thread, in a fork's child, is the caller's in the bag.
  void take_back(bag<retired_object>& safe) noexcept;

  // In a fork's child: the thread is gone. What it was about to free, but for one object, waits for the next that is made,
  // or is taken back; it is in nobody's way.
  void after_fork() noexcept;

 private:
  static void* run(void* self) noexcept;
  void work() noexcept;

  ledger& ledger_;
  free_watch* const watch_;
  owned_lock lock_;
  bag<retired_object> queue_;    // under the lock
  bool running_ = false;         // under the lock: there is a thread
  bool stop_ = false;            // under the lock
  std::uint64_t by_others_ = 0;  // under the lock
  pthread_t thread_{};
  // number_: the thread's, or none. Written by it when it begins, and when it is gone; read by who wants to know whether it is
  // that thread, and by who drains, after finish().
  atomic<thread_slot::number> number_;

  backlog work_;  // the thread sleeps on it

  bag<retired_object> mine_;  // the thread's
  chunk_stock<retired_object> stock_;
  weights count_;
};

}  // namespace polder::smr
