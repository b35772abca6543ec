#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include <polder/os/futex.hpp>
#include <polder/os/print.hpp>
#include <polder/smr/held_numbers.hpp>
#include <polder/smr/thread_slot.hpp>

namespace polder::smr {

constinit thread_local thread_slot::number thread_slot::held_ = none;
constinit thread_local bool thread_slot::fleeting_ = false;
constinit thread_local unsigned char thread_slot::rounds_ = 0;

// All mutable state of the registry: there is one of a process, as there is of its threads.
struct thread_slot_state {
  held_numbers<thread_slot::most> held;

  owned_lock watchers_lock;
  thread_watcher* first = nullptr;  // under the lock
  pthread_key_t key{};
  bool has_key = false;

  static thread_slot_state& process() {
    static constinit thread_slot_state the;
    return the;
  }

  thread_slot::number take_number() {
    const thread_slot::number n = held.take();
    if (n != held.none) return n;
    os::line() << "polder: more than " << thread_slot::most
               << " threads at once use reclaimers: there is no number left";
    ::abort();
  }

  bool is_needed(thread_slot::number n) {
    const os::holding watchers(watchers_lock);
    for (const thread_watcher* w = first; w != nullptr; w = w->next_) {
      if (w->needs(n)) return true;
    }
    return false;
  }

  void end(thread_slot::number n) {
    {
      const os::holding watchers(watchers_lock);
      for (thread_watcher* w = first; w != nullptr; w = w->next_) w->thread_ended(n);
    }
    held.give(n);
  }

  // Of thread-specific data's destruction: how many must have been seen for what is set then to be destroyed by nobody.
  static constexpr unsigned char first_fleeting_round = PTHREAD_DESTRUCTOR_ITERATIONS - 1;

  static void end_of_thread(void* again) {
    if (thread_slot::rounds_ != 255) ++thread_slot::rounds_;
    thread_slot_state& s = process();
    // The rounds are counted on: in a later one a destructor may ask for a number, and must be told if it is fleeting.
    if (thread_slot::rounds_ < first_fleeting_round) pthread_setspecific(s.key, again);
    const thread_slot::number n = thread_slot::held_;
    if (n == thread_slot::none) return;
    // A later destructor may close the guard for which it is needed.
    const bool more = thread_slot::rounds_ < PTHREAD_DESTRUCTOR_ITERATIONS;
    if (more && s.is_needed(n) && pthread_setspecific(s.key, again) == 0) return;
    thread_slot::held_ = thread_slot::none;
    s.end(n);
  }

  static void before_fork() { os::lock(process().watchers_lock); }
  static void after_fork_in_parent() { os::unlock(process().watchers_lock); }
  static void after_fork_in_child() {
    thread_slot_state& s = process();
    const thread_slot::number mine = thread_slot::held_;
    for (thread_watcher* w = s.first; w != nullptr; w = w->next_) w->forked(mine);
    s.held.forget_all_but(mine);
    os::unlock(s.watchers_lock);
  }

  // Before other constructors: domains may be static objects.
  [[gnu::constructor(101)]] static void at_start() {
    thread_slot_state& s = process();
    s.has_key = pthread_key_create(&s.key, end_of_thread) == 0;
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  }

  static void watch(thread_watcher& w) {
    thread_slot_state& s = process();
    const os::holding watchers(s.watchers_lock);
    w.next_ = s.first;
    s.first = &w;
  }

  static void unwatch(thread_watcher& w) {
    thread_slot_state& s = process();
    const os::holding watchers(s.watchers_lock);
    thread_watcher** at = &s.first;
    while (*at != &w) at = &(*at)->next_;
    *at = w.next_;
  }
};

thread_slot::number thread_slot::take() noexcept {
  thread_slot_state& s = thread_slot_state::process();
  held_ = s.take_number();
  // The C library calls the key's destructor once more for each round in which it was set, and stops after so many.
  fleeting_ = !s.has_key || rounds_ >= s.first_fleeting_round ||
              pthread_setspecific(s.key, reinterpret_cast<void*>(std::uintptr_t{held_})) != 0;
  return held_;
}

void thread_slot::give_back() noexcept {
  const number n = held_;
  thread_slot_state& s = thread_slot_state::process();
  if (n == none || s.is_needed(n)) return;
  held_ = none;
  s.end(n);
}

void thread_watcher::watch() noexcept { thread_slot_state::watch(*this); }
void thread_watcher::unwatch() noexcept { thread_slot_state::unwatch(*this); }

}  // namespace polder::smr
