#pragma once
// lock_based_queue — a list with a mutex at each end.
//
//   paper      Michael and Scott, "Simple, fast, and practical non-blocking and blocking concurrent queue algorithms",
//              PODC 1996, fig. 2; the modes of waiting: Scal (scal.cs.uni-salzburg.at), whose queue has one mutex
//   progress   blocking
//   in malloc  no: put allocates
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/lock_based.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/two_locks.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class lock_based_queue
    : public lock_based<lock_based_queue<T, R, Memory>, T, two_locks<typename in_node<T>::kept, Memory>>,
      public queue_names<lock_based_queue<T, R, Memory>, T> {
  friend collection<lock_based_queue, T, in_node<T>>;

 public:
  static constexpr collection_info info = {
      .name = "lock-based-queue",
      .title = "lock-based queue",
      .kind = shape::queue,
      .order = semantics::linearizable,
      .putters = "blocking",
      .getters = "blocking",
      .paper = "Michael and Scott, PODC 1996",
      .year = 1996,
      .protection = needs::none,
  };

  lock_based_queue() = default;
};

}  // namespace polder::ds
