#pragma once
// k_stack — a stack of segments of k slots: the elements of the topmost may leave in any order.
//
//   paper      Henzinger, Kirsch, Payer, Sezgin and Sokolova, "Quantitative relaxation of concurrent data structures",
//              POPL 2013, sec. 5
//   progress   lock-free
//   in malloc  no: put may allocate
//   deviation  see stack/segment_stack.hpp
//
// States, invariant, order and emptiness are segment_stack's.
#include <cstddef>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/over_segments.hpp>
#include <polder/ds/stack/segment_stack.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class k_stack : public over_segments<k_stack<T, R, Memory>, T, R, segment_stack, Memory, anyone>,
                public stack_names<k_stack<T, R, Memory>, T> {
  using base = over_segments<k_stack, T, R, segment_stack, Memory, anyone>;

 public:
  static constexpr collection_info info = {
      .name = "k-stack",
      .title = "k-stack",
      .kind = shape::stack,
      .order = semantics::k_out_of_order,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Henzinger, Kirsch, Payer, Sezgin and Sokolova, POPL 2013",
      .year = 2013,
      .parameters = "k",
      .protection = needs::pointer,
  };

  // Throws std::bad_alloc.
  explicit k_stack(typename R::domain& domain) : k_stack(domain, usual_k) {}
  // k, the slots of a segment: from 1 to most_k; else throws std::invalid_argument.
  k_stack(typename R::domain& domain, std::size_t k) : base(domain, checked_k("k_stack: k", k)) {}

  // How many younger elements a pop may pass over: the others of one segment.
  std::size_t k() const noexcept { return this->segment_size() - 1; }
};

}  // namespace polder::ds
