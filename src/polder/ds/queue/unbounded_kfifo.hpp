#pragma once
// unbounded_kfifo — a list of segments of k slots, of which the k oldest elements may leave in any order.
//
//   paper      Kirsch, Lippautz and Payer, "Fast and scalable, lock-free k-FIFO queues", PaCT 2013, sec. 3
//   progress   lock-free
//   in malloc  no: put may allocate
//   deviation  see queue/segment_list.hpp: with slots that are used once it is the segment queue with the k-FIFO's exact
//              emptiness, and both names stand for it
//
// States, invariant, order and emptiness are segment_list's.
#include <cstddef>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/over_segments.hpp>
#include <polder/ds/queue/segment_list.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class unbounded_kfifo : public over_segments<unbounded_kfifo<T, R, Memory>, T, R, segment_list, Memory, anyone>,
                        public queue_names<unbounded_kfifo<T, R, Memory>, T> {
  using base = over_segments<unbounded_kfifo, T, R, segment_list, Memory, anyone>;

 public:
  static constexpr collection_info info = {
      .name = "unbounded-kfifo",
      .title = "Unbounded-size k-FIFO queue",
      .kind = shape::queue,
      .order = semantics::k_out_of_order,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Kirsch, Lippautz and Payer, PaCT 2013",
      .year = 2013,
      .parameters = "k",
      .protection = needs::pointer,
  };

  // Throws std::bad_alloc.
  explicit unbounded_kfifo(typename R::domain& domain) : unbounded_kfifo(domain, usual_k) {}
  // k, the slots of a segment: from 1 to most_k; else throws std::invalid_argument.
  unbounded_kfifo(typename R::domain& domain, std::size_t k) : base(domain, checked_k("unbounded_kfifo: k", k)) {}

  // How many older elements a get may pass over: the others of one segment.
  std::size_t k() const noexcept { return this->segment_size() - 1; }
};

}  // namespace polder::ds
