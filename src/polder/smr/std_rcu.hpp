#pragma once
// std_rcu — C++26's <rcu> over the domain of epoch-based reclamation.
//
//   paper      ISO/IEC 14882:2026, [saferecl.rcu]; Fraser 2004
//   progress   as the scheme's; rcu_synchronize and rcu_barrier wait for others
//   in malloc  no
//
// Deleters run in a thread of the domain's own, or in rcu_barrier: never in lock(), whose caller may hold locks that they
// take, as long as such a thread can be made. The domain is made with its first use and never destroyed. Where the
// standard says noexcept and there is no memory, the process ends.
#include <memory>
#include <type_traits>
#include <utility>

#include <polder/smr/epoch/epoch.hpp>
#include <polder/smr/retired_by_itself.hpp>

namespace polder::smr {

class rcu_domain {
 public:
  rcu_domain(const rcu_domain&) = delete;
  rcu_domain& operator=(const rcu_domain&) = delete;

  void lock() noexcept { of_.open(); }
  bool try_lock() noexcept {
    lock();
    return true;
  }
  void unlock() noexcept { of_.close_mine(); }

 private:
  friend rcu_domain& rcu_default_domain() noexcept;
  friend void rcu_synchronize(rcu_domain&) noexcept;
  friend void rcu_barrier(rcu_domain&) noexcept;
  template <class, class>
  friend class rcu_obj_base;
  friend struct rcu_retiring;

  rcu_domain() : of_({.drain = {.how = drain_policy::way::background}}) {}

  void retire(const retired_object& what) {
    ebr::domain::member& m = of_.open();
    of_.retire(m, what);
    of_.close(m);
  }

  ebr::domain of_;
};

inline rcu_domain& rcu_default_domain() noexcept {
  static rcu_domain& the = *new rcu_domain;
  return the;
}

// Waits for every region of protection that is open now. Not inside one.
inline void rcu_synchronize(rcu_domain& dom = rcu_default_domain()) noexcept;
// Waits for every deleter that was scheduled before. Not inside a region.
inline void rcu_barrier(rcu_domain& dom = rcu_default_domain()) noexcept;

inline void rcu_synchronize(rcu_domain& dom) noexcept { dom.of_.synchronize(); }
inline void rcu_barrier(rcu_domain& dom) noexcept { dom.of_.drain(); }

template <class T, class D = std::default_delete<T>>
class rcu_obj_base : retired_by_itself<T, D> {
  friend retired_by_itself<T, D>;

 public:
  // Schedules d(this) for when all regions that are open now are closed.
  void retire(D d = D(), rcu_domain& dom = rcu_default_domain()) noexcept { dom.retire(this->with(std::move(d))); }

 protected:
  rcu_obj_base() = default;
  rcu_obj_base(const rcu_obj_base&) = default;
  rcu_obj_base(rcu_obj_base&&) = default;
  rcu_obj_base& operator=(const rcu_obj_base&) = default;
  rcu_obj_base& operator=(rcu_obj_base&&) = default;
  ~rcu_obj_base() = default;
};

struct rcu_retiring {
  static void retire(rcu_domain& dom, const retired_object& what) { dom.retire(what); }
};

// A call of d(p). Another of the same p is no mistake: it need not be a deletion.
template <const kind& Of>
inline constexpr kind rcu_scheduled = [] {
  kind of = Of;
  of.may_repeat = true;
  return of;
}();

// The same for an object of any type. Throws std::bad_alloc.
template <class T, class D = std::default_delete<T>>
void rcu_retire(T* p, D d = D(), rcu_domain& dom = rcu_default_domain()) {
  if constexpr (std::is_same_v<D, std::default_delete<T>>) {
    rcu_retiring::retire(dom, {without_const(p), &kind_for<T, D>()});
  } else if constexpr (std::is_empty_v<D> && std::is_default_constructible_v<D>) {
    rcu_retiring::retire(dom, {without_const(p), &rcu_scheduled<kind_of<T, D>>});
  } else {
    using scheduled = with_deleter<T, D>;
    rcu_retiring::retire(dom, {new scheduled{p, std::move(d)}, &rcu_scheduled<made_kind<scheduled>>});
  }
}

}  // namespace polder::smr
