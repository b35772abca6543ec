#pragma once
// thread_backends — owned_backends of the process's threads: a thread's end is heard of, and who gets begins anywhere.
//
//   progress   as owned_backends.hpp; the end of a thread is the watchers'
//   in malloc  no
#include <cstdint>
#include <memory>
#include <optional>

#include <polder/ds/parts/owned_backends.hpp>
#include <polder/ds/parts/random_draw.hpp>
#include <polder/smr/thread_slot.hpp>

namespace polder::ds {

template <class Backend, class Domain>
class thread_backends : private smr::thread_watcher {
  using number = smr::thread_slot::number;

 public:
  using kept = typename Backend::kept;

  explicit thread_backends(Domain& domain) noexcept : domain_(domain) { this->watch(); }
  ~thread_backends() { this->unwatch(); }

  // The calling thread's, which is its owner from now on. Throws std::bad_alloc.
  Backend& mine() {
    std::unique_ptr<Backend> fresh;
    // A thread past its end loses its number when it closes a guard, as a backend's constructor may: then it begins anew.
    for (;;) {
      if (Backend* const b = backends_.own(smr::thread_slot::mine(), fresh)) [[likely]]
        return *b;
      fresh = std::make_unique<Backend>(domain_);
    }
  }

  // From the calling thread's own, if it has one; else from any.
  template <class Scan>
  std::optional<kept> remove() {
    return backends_.template remove<Scan>(smr::thread_slot::mine(), [](number n) { return random_draw(n); });
  }

  // How many backends are looked into: for tests, when no thread is inside.
  unsigned listed() const noexcept { return backends_.listed(); }

 private:
  void thread_ended(number who) noexcept override { backends_.leave(who); }
  void forked(number survivor) noexcept override { backends_.leave_all_but(survivor); }

  Domain& domain_;
  owned_backends<Backend> backends_;
  static_assert(owned_backends<Backend>::most >= smr::thread_slot::most);
};

}  // namespace polder::ds
