#pragma once
// ll_k_stack — a k-stack in which a thread's own elements leave in the order of a stack: it has no two in one segment.
//
//   paper      Haas, Henzinger, Holzer, Kirsch, Lippautz, Payer, Sezgin, Sokolova and Veith, "Local linearizability for
//              concurrent container-type data structures", CONCUR 2016, sec. 7
//   progress   lock-free
//   in malloc  no: put may allocate
//   deviation  A segment has as many slots as the one below needed, and says whose its elements are (parts/k_segment.hpp).
//              As published each has k slots and a mark for each of 1024 threads, 17 KiB, and a thread alone takes one of
//              them for each push. There a thread never pushes twice into a segment; here it may once its element is gone
//
// States, invariant, order and emptiness are segment_stack's. It is k-1-out-of-order besides; of a single thread it is a stack.
#include <cstddef>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/over_segments.hpp>
#include <polder/ds/stack/segment_stack.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class ll_k_stack : public over_segments<ll_k_stack<T, R, Memory>, T, R, segment_stack, Memory, one_each>,
                   public stack_names<ll_k_stack<T, R, Memory>, T> {
  using base = over_segments<ll_k_stack, T, R, segment_stack, Memory, one_each>;

 public:
  static constexpr collection_info info = {
      .name = "ll-k-stack",
      .title = "Locally linearizable k-stack",
      .kind = shape::stack,
      .order = semantics::locally_linearizable,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Haas et al., CONCUR 2016",
      .year = 2016,
      .parameters = "k",
      .protection = needs::pointer,
  };

  // Throws std::bad_alloc.
  explicit ll_k_stack(typename R::domain& domain) : ll_k_stack(domain, usual_k) {}
  // k, the most slots of a segment: from 1 to most_k; else throws std::invalid_argument.
  ll_k_stack(typename R::domain& domain, std::size_t k) : base(domain, checked_k("ll_k_stack: k", k)) {}
};

}  // namespace polder::ds
