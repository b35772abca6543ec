#pragma once
// lock_based_queue — one mutex around a list.
//
//   paper      Knuth, The Art of Computer Programming, vol. 1, sec. 2.2.3; the modes of waiting: Scal (scal.cs.uni-salzburg.at)
//   progress   blocking
//   in malloc  no: put allocates
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/lock_based.hpp>
#include <polder/ds/parts/locking.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/sequential_queue.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class lock_based_queue : public lock_based<lock_based_queue<T, R, Memory>, T,
                                           locking<sequential_queue<typename in_node<T>::kept, Memory>>>,
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
      .paper = "Knuth, The Art of Computer Programming, vol. 1, 1997",
      .year = 1997,
      .protection = needs::none,
  };

  lock_based_queue() = default;
};

}  // namespace polder::ds
