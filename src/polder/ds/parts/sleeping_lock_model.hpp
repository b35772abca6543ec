#pragma once
// sleeping_lock_model — parts/sleeping_lock.hpp in the world of the model checker.
#include <polder/sync/owned_lock.hpp>

namespace polder::ds {

using sleeping_lock = owned_lock;

class [[nodiscard]] holding {
 public:
  explicit holding(owned_lock& l) : lock_(l) {
    l.lock(owned_lock::mark(rl::ctx().current_thread() + 2),
           [](owned_lock::mark) { rl::yield(1, model::info(model::place::current())); });
  }
  ~holding() {
    lock_.unlock([] {});
  }
  holding(const holding&) = delete;
  holding& operator=(const holding&) = delete;

 private:
  owned_lock& lock_;
};

}  // namespace polder::ds
