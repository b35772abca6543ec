#pragma once
// std_hazard_pointer — C++26's <hazard_pointer> over the domain of hazard/hazard.hpp.
//
//   paper      ISO/IEC 14882:2026, [saferecl.hp]; Michael, IEEE TPDS 2004
//   progress   as the scheme's; make_hazard_pointer: lock-free
//   in malloc  no
//
// A hazard pointer may be handed from thread to thread, so its slot is lent by the domain and belongs to no guard. The
// domain is made with its first use and never destroyed: objects may be retired in destructors of static objects. Where
// the standard says noexcept and there is no memory, the process ends.
#include <cstddef>
#include <memory>
#include <utility>

#include <polder/smr/hazard/hazard.hpp>
#include <polder/smr/retired_by_itself.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

inline hazard::domain& default_hazard_domain() {
  static hazard::domain& the = *new hazard::domain;
  return the;
}

template <class T, class D = std::default_delete<T>>
class hazard_pointer_obj_base : retired_by_itself<T, D> {
  friend retired_by_itself<T, D>;

 public:
  // Schedules d(this) for when no hazard pointer protects *this any more.
  void retire(D d = D()) noexcept {
    hazard::domain& domain = default_hazard_domain();
    hazard::domain::member& m = domain.open();
    domain.retire(m, this->with(std::move(d)));
    domain.close(m);
  }

 protected:
  hazard_pointer_obj_base() = default;
  hazard_pointer_obj_base(const hazard_pointer_obj_base&) = default;
  hazard_pointer_obj_base(hazard_pointer_obj_base&&) = default;
  hazard_pointer_obj_base& operator=(const hazard_pointer_obj_base&) = default;
  hazard_pointer_obj_base& operator=(hazard_pointer_obj_base&&) = default;
  ~hazard_pointer_obj_base() = default;
};

class hazard_pointer {
 public:
  hazard_pointer() noexcept = default;
  hazard_pointer(hazard_pointer&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  hazard_pointer& operator=(hazard_pointer&& other) noexcept {
    hazard_pointer(std::move(other)).swap(*this);
    return *this;
  }
  ~hazard_pointer() {
    if (slot_ != nullptr) default_hazard_domain().scheme().give_back(*slot_);
  }

  [[nodiscard]] bool empty() const noexcept { return slot_ == nullptr; }

  template <class T>
  T* protect(const standard_atomic<T*>& src) noexcept {
    return slot_->protect(standard_source<T*>(src), both_fences(),
                          [](T* p) { return static_cast<const void*>(p); });
  }
  template <class T>
  bool try_protect(T*& ptr, const standard_atomic<T*>& src) noexcept {
    T* const old = ptr;
    reset_protection(old);
    both_fences().light();
    ptr = standard_source<T*>(src).load(order::acquire);  // sync: structure
    if (old != ptr) reset_protection();
    return old == ptr;
  }
  template <class T>
  void reset_protection(const T* ptr) noexcept {
    slot_->publish(ptr);
  }
  void reset_protection(std::nullptr_t = nullptr) noexcept { slot_->clear(); }
  void swap(hazard_pointer& other) noexcept { std::swap(slot_, other.slot_); }

 private:
  friend hazard_pointer make_hazard_pointer();
  explicit hazard_pointer(hazard_slot& s) noexcept : slot_(&s) {}
  static const fences& both_fences() noexcept { return default_hazard_domain().scheme().fences; }

  hazard_slot* slot_ = nullptr;
};

inline hazard_pointer make_hazard_pointer() { return hazard_pointer(default_hazard_domain().scheme().lend()); }
inline void swap(hazard_pointer& a, hazard_pointer& b) noexcept { a.swap(b); }

}  // namespace polder::smr
