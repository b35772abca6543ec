#pragma once
// segment_queue — a list of segments of s slots: elements come into a random slot of the last, leave from one of the first.
//
//   paper      Afek, Korland and Yanovsky, "Quasi-linearizability: relaxed consistency for improved concurrency",
//              OPODIS 2010, sec. 4.1
//   progress   lock-free
//   in malloc  no: put may allocate
//   deviation  Empty is exact: as published, get found nothing where an element had come behind its search. Here it looks
//              twice (queue/segment_list.hpp)
//
// States, invariant, order and emptiness are segment_list's.
#include <cstddef>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/over_segments.hpp>
#include <polder/ds/queue/segment_list.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class segment_queue : public over_segments<segment_queue<T, R, Memory>, T, R, segment_list, Memory, anyone>,
                      public queue_names<segment_queue<T, R, Memory>, T> {
  using base = over_segments<segment_queue, T, R, segment_list, Memory, anyone>;

 public:
  static constexpr collection_info info = {
      .name = "segment-queue",
      .title = "Segment queue",
      .kind = shape::queue,
      .order = semantics::k_out_of_order,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Afek, Korland and Yanovsky, OPODIS 2010",
      .year = 2010,
      .parameters = "quasi factor",
      .protection = needs::pointer,
  };

  // Throws std::bad_alloc.
  explicit segment_queue(typename R::domain& domain) : segment_queue(domain, usual_k) {}
  // quasi_factor, the slots of a segment: from 1 to most_k; else throws std::invalid_argument.
  segment_queue(typename R::domain& domain, std::size_t quasi_factor)
      : base(domain, checked_k("segment_queue: quasi factor", quasi_factor)) {}

  // How many older elements a get may pass over: the others of one segment.
  std::size_t k() const noexcept { return this->segment_size() - 1; }
};

}  // namespace polder::ds
