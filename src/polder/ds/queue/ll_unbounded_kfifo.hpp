#pragma once
// ll_unbounded_kfifo — a k-FIFO queue in which a thread's own elements leave in order: it has no two in one segment.
//
//   paper      Haas, Henzinger, Holzer, Kirsch, Lippautz, Payer, Sezgin, Sokolova and Veith, "Local linearizability for
//              concurrent container-type data structures", CONCUR 2016, sec. 7
//   progress   lock-free
//   in malloc  no: put may allocate
//   deviation  A segment has as many slots as the last one needed, and says whose its elements are (parts/k_segment.hpp): a
//              thread alone takes one slot an element, not k. In the paper a thread never puts twice into a segment; here it
//              may once its element there is gone
//
// States, invariant, order and emptiness are segment_list's. It is k-1-out-of-order besides; of a single thread it is a queue.
#include <cstddef>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/over_segments.hpp>
#include <polder/ds/queue/segment_list.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class ll_unbounded_kfifo
    : public over_segments<ll_unbounded_kfifo<T, R, Memory>, T, R, segment_list, Memory, one_each>,
      public queue_names<ll_unbounded_kfifo<T, R, Memory>, T> {
  using base = over_segments<ll_unbounded_kfifo, T, R, segment_list, Memory, one_each>;

 public:
  static constexpr collection_info info = {
      .name = "ll-unbounded-kfifo",
      .title = "Locally linearizable k-FIFO queue",
      .kind = shape::queue,
      .order = semantics::locally_linearizable,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Haas et al., CONCUR 2016",
      .year = 2016,
      .parameters = "k",
      .protection = needs::pointer,
  };

  // Throws std::bad_alloc.
  explicit ll_unbounded_kfifo(typename R::domain& domain) : ll_unbounded_kfifo(domain, usual_k) {}
  // k, the most slots of a segment: from 1 to most_k; else throws std::invalid_argument.
  ll_unbounded_kfifo(typename R::domain& domain, std::size_t k)
      : base(domain, checked_k("ll_unbounded_kfifo: k", k)) {}
};

}  // namespace polder::ds
