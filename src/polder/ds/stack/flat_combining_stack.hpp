#pragma once
// flat_combining_stack — a list that one thread at a time works on, for all that have asked.
//
//   paper      Hendler, Incze, Shavit and Tzafrir, "Flat combining and the synchronization-parallelism tradeoff", SPAA 2010
//   progress   blocking: parts/combining.hpp
//   in malloc  no: put allocates
//   deviation  the combiner does not match puts and takes before it applies them
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/flat_combining.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/sequential_stack.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class flat_combining_stack : public flat_combining<flat_combining_stack<T, R, Memory>, T,
                                                   sequential_stack<typename in_node<T>::kept, Memory>>,
                             public stack_names<flat_combining_stack<T, R, Memory>, T> {
  friend collection<flat_combining_stack, T, in_node<T>>;

 public:
  static constexpr collection_info info = {
      .name = "flat-combining-stack",
      .title = "flat combining stack",
      .kind = shape::stack,
      .order = semantics::linearizable,
      .putters = "blocking",
      .getters = "blocking",
      .paper = "Hendler, Incze, Shavit and Tzafrir, SPAA 2010",
      .year = 2010,
      .protection = needs::none,
  };

  flat_combining_stack() = default;
};

}  // namespace polder::ds
