#pragma once
// ledger — in checked builds, which objects of a domain are retired and not yet reclaimed: an object that is retired
// twice is found at its second time. In others it is nothing.
//
// An object stands here as what guards know it by (kind::guarded), whatever its deleter: one that carries state is retired
// as another object, which is made anew each time. What may be retired again while it waits (kind::may_repeat) does not.
#include <polder/base/check.hpp>
#include <polder/smr/kind.hpp>

#if POLDER_CHECK_LEVEL > 0
#include <mutex>
#include <new>
#include <unordered_set>
#endif

namespace polder::smr {

#if POLDER_CHECK_LEVEL > 0
class ledger {
 public:
  // False: it is there already.
  [[nodiscard]] bool enter(const retired_object& o) {
    if (o.of->may_repeat) return true;
    const std::lock_guard<std::mutex> hold(lock_);
    return entries_.insert(o.guarded()).second;
  }
  void strike(const retired_object& o) {
    if (o.of->may_repeat) return;
    const std::lock_guard<std::mutex> hold(lock_);
    entries_.erase(o.guarded());
  }
  // In a fork's child: it may have been in the middle of anything, so it begins anew.
  void after_fork() { new (this) ledger; }

 private:
  std::mutex lock_;
  std::unordered_set<const void*> entries_;
};
#else
class ledger {
 public:
  [[nodiscard]] constexpr bool enter(const retired_object&) const noexcept { return true; }
  constexpr void strike(const retired_object&) const noexcept {}
  constexpr void after_fork() const noexcept {}
};
#endif

}  // namespace polder::smr
