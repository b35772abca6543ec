#pragma once
// lock_based_stack — one mutex around a list.
//
//   paper      Knuth, The Art of Computer Programming, vol. 1, sec. 2.2.3; the modes of waiting: Scal (scal.cs.uni-salzburg.at)
//   progress   blocking
//   in malloc  no: put allocates
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/lock_based.hpp>
#include <polder/ds/parts/locking.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/sequential_stack.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class lock_based_stack : public lock_based<lock_based_stack<T, R, Memory>, T,
                                           locking<sequential_stack<typename in_node<T>::kept, Memory>>>,
                         public stack_names<lock_based_stack<T, R, Memory>, T> {
  friend collection<lock_based_stack, T, in_node<T>>;

 public:
  static constexpr collection_info info = {
      .name = "lock-based-stack",
      .title = "lock-based stack",
      .kind = shape::stack,
      .order = semantics::linearizable,
      .putters = "blocking",
      .getters = "blocking",
      .paper = "Knuth, The Art of Computer Programming, vol. 1, 1997",
      .year = 1997,
      .protection = needs::none,
  };

  lock_based_stack() = default;
};

}  // namespace polder::ds
