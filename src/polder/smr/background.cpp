#include <polder/smr/background.hpp>

#include <signal.h>

namespace polder::smr {
namespace {

// A thread of ours takes no signal that is meant for the program's: only those that it makes itself, and in a read phase the
// neutralising one (neutraliser::enlist).
bool create_thread(pthread_t& thread, void* (*run)(void*), void* argument) noexcept {
  sigset_t others, was;
  sigfillset(&others);
  for (const int its_own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&others, its_own);
  pthread_sigmask(SIG_SETMASK, &others, &was);
  const bool created = pthread_create(&thread, nullptr, run, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &was, nullptr);
  return created;
}

}  // namespace

background::~background() { stop(); }

void background::stop() noexcept {
  {
    const os::holding hold(lock_);
    stop_ = true;
    if (!running_) return;
    work_.add();
  }
  os::wake_one(work_.given_word());
  pthread_join(thread_, nullptr);
  running_ = false;
  number_.store(thread_slot::none, order::relaxed);
}

bool background::hand_over(bag<retired_object>& safe) noexcept {
  {
    const os::holding hold(lock_);
    if (stop_) return false;
    if (!running_) running_ = create_thread(thread_, run, this);
    if (!running_) return false;
    queue_.splice(safe);
    by_others_ += !is(thread_slot::mine());
    work_.add();
  }
  os::wake_one(work_.given_word());
  return true;
}

void background::finish() noexcept { work_.finish(os::sleep_on); }

std::uint64_t background::handed_over_by_others() noexcept {
  const os::holding hold(lock_);
  return by_others_;
}

void background::take_back(bag<retired_object>& safe) noexcept {
  const os::holding hold(lock_);
  if (!running_) safe.splice(queue_);
}

void background::after_fork() noexcept {
  new (&lock_) owned_lock;
  running_ = false;
  number_.store(thread_slot::none, order::relaxed);
  mine_.splice(queue_);  // in the order in which it came
  queue_.splice(mine_);
  work_.forget();
}

void* background::run(void* self) noexcept {
  static_cast<background*>(self)->work();
  return nullptr;
}

void background::work() noexcept {
  number_.store(thread_slot::mine(), order::relaxed);
  for (bool stop = false; !stop;) {
    backlog::mark seen;
    {
      const os::holding hold(lock_);
      seen = work_.given();
      mine_.splice(queue_);
      stop = stop_;
    }
    while (!mine_.empty()) {
      const retired_object e = mine_.pop(stock_);
      count_.reclaimed(e.weight());
      ledger_.strike(e);
      free_watch::see(watch_, 1, [&] { e.of->reclaim(e.object); });
    }
    mine_.tidy(stock_);
    work_.done(seen);
    os::wake_one(work_.done_word());
    if (!stop) work_.idle(seen, os::sleep_on);
  }
}

}  // namespace polder::smr
