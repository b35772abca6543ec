#include <polder/smr/background.hpp>

namespace polder::smr {

background::~background() {
  {
    const os::holding hold(lock_);
    if (!running_) return;
    stop_ = true;
    work_.fetch_add(1, order::relaxed);
  }
  os::wake_one(&work_);
  pthread_join(thread_, nullptr);
}

bool background::hand_over(bag<retired_object>& safe) noexcept {
  {
    const os::holding hold(lock_);
    if (!running_) running_ = pthread_create(&thread_, nullptr, run, this) == 0;
    if (!running_) return false;
    queue_.splice(safe);
    work_.fetch_add(1, order::relaxed);
  }
  os::wake_one(&work_);
  return true;
}

void background::finish() noexcept {
  const std::uint32_t until = work_.load(order::relaxed);
  while (std::int32_t(done_.load(order::acquire) - until) < 0) {  // sync: work-done
    const std::uint32_t seen = done_.load(order::relaxed);
    if (std::int32_t(seen - until) < 0) os::sleep_on(&done_, seen);
  }
}

void background::take_back(bag<retired_object>& safe) noexcept {
  const os::holding hold(lock_);
  if (!running_) safe.splice(queue_);
}

void background::after_fork() noexcept {
  new (&lock_) owned_lock;
  running_ = false;
  mine_.splice(queue_);  // in the order in which it came
  queue_.splice(mine_);
  done_.store(work_.load(order::relaxed), order::relaxed);
}

void* background::run(void* self) noexcept {
  static_cast<background*>(self)->work();
  return nullptr;
}

void background::work() noexcept {
  for (bool stop = false; !stop;) {
    std::uint32_t seen;
    {
      const os::holding hold(lock_);
      seen = work_.load(order::relaxed);
      mine_.splice(queue_);
      stop = stop_;
    }
    while (!mine_.empty()) {
      const retired_object e = mine_.pop(stock_);
      count_.reclaimed(e.weight());
      ledger_.strike(e.object);
      free_watch::see(watch_, 1, [&] { e.of->reclaim(e.object); });
    }
    mine_.tidy(stock_);
    done_.store(seen, order::release);  // sync: work-done
    os::wake_one(&done_);
    if (!stop && work_.load(order::relaxed) == seen) os::sleep_on(&work_, seen);
  }
}

}  // namespace polder::smr
