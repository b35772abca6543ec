#pragma once
// lock_based — a collection over what locks (parts/locking.hpp, parts/two_locks.hpp), with the three ways of Scal to find it empty: get()
// says so at once, wait_get() waits, get_for() waits so long.
//
// Waits are for a T whose move cannot throw: an element that could not be handed over is not in the sequence
// (parts/collection.hpp), and nobody would be woken for it.
#include <chrono>
#include <new>
#include <optional>
#include <type_traits>

#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/deadline.hpp>

namespace polder::ds {

template <class Self, class T, class Locked>
class lock_based : public collection<Self, T, in_node<T>> {
  using base = collection<Self, T, in_node<T>>;

 public:
  using kept = typename in_node<T>::kept;

  // The next element, as soon as there is one.
  T wait_get()
    requires std::is_nothrow_move_constructible_v<T>
  {
    return *locked_.take_when_there_is_one();
  }
  // Nothing: it was empty as long as that.
  template <class Representation, class Period>
  std::optional<T> get_for(std::chrono::duration<Representation, Period> patience)
    requires std::is_nothrow_move_constructible_v<T>
  {
    const deadline end = deadline_after(patience);
    if (end == deadline::max()) return wait_get();
    return locked_.take_until(end);
  }

 protected:
  lock_based() = default;
  ~lock_based() = default;

 private:
  friend base;

  bool insert(kept& e) {
    if (!locked_.put(e)) throw std::bad_alloc();
    return true;
  }
  std::optional<kept> remove() { return locked_.take(); }

  Locked locked_;
};

}  // namespace polder::ds
