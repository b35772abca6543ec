#pragma once
// flat_combining_queue — a list that one thread at a time works on, for all that have asked.
//
//   paper      Hendler, Incze, Shavit and Tzafrir, "Flat combining and the synchronization-parallelism tradeoff", SPAA 2010
//   progress   blocking: parts/combining.hpp
//   in malloc  no: put allocates
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/flat_combining.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/sequential_queue.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class flat_combining_queue : public flat_combining<flat_combining_queue<T, R, Memory>, T,
                                                   sequential_queue<typename in_node<T>::kept, Memory>>,
                             public queue_names<flat_combining_queue<T, R, Memory>, T> {
  friend collection<flat_combining_queue, T, in_node<T>>;

 public:
  static constexpr collection_info info = {
      .name = "flat-combining-queue",
      .title = "flat combining queue",
      .kind = shape::queue,
      .order = semantics::linearizable,
      .putters = "blocking",
      .getters = "blocking",
      .paper = "Hendler, Incze, Shavit and Tzafrir, SPAA 2010",
      .year = 2010,
      .protection = needs::none,
  };

  flat_combining_queue() = default;
};

}  // namespace polder::ds
