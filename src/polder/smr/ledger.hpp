#pragma once
// ledger — in checked builds, which objects of a domain are retired and not yet reclaimed: an object that is retired
// twice is found at its second time. In others it is nothing.
#include <polder/base/check.hpp>

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
  [[nodiscard]] bool enter(const void* object) {
    const std::lock_guard<std::mutex> hold(lock_);
    return entries_.insert(object).second;
  }
  void strike(const void* object) {
    const std::lock_guard<std::mutex> hold(lock_);
    entries_.erase(object);
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
  [[nodiscard]] constexpr bool enter(const void*) const noexcept { return true; }
  constexpr void strike(const void*) const noexcept {}
  constexpr void after_fork() const noexcept {}
};
#endif

}  // namespace polder::smr
