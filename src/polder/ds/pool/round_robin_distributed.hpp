#pragma once
// round_robin_distributed — b-RR DQ and b-RR DS: queues or stacks in turn, b pairs of counters.
//
//   paper      Haas et al., CF 2013, sec. 3. How far out of order its elements come depends there on how many threads there
//              are, and how long one may sleep between drawing its turn and taking it. Here threads come and go in any
//              number, so no k can be promised: a pool. One whose k is fixed is lru_distributed
#include <polder/ds/parts/balancer/b_round_robin.hpp>
#include <polder/ds/parts/distributed.hpp>
#include <polder/ds/queue/ms_queue.hpp>
#include <polder/ds/stack/treiber_stack.hpp>

namespace polder::ds {

constexpr collection_info round_robin_distributed_info(std::string_view name, std::string_view title) {
  return {
      .name = name,
      .title = title,
      .kind = shape::pool,
      .order = semantics::pool,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Haas, Henzinger, Kirsch, Lippautz, Payer, Sezgin and Sokolova, CF 2013",
      .year = 2013,
      .parameters = of_p_backends,
      .protection = needs::pointer,
  };
}

template <unsigned B>
struct round_robin_queues {
  template <class T, class R, class Memory>
  using backend = ms_queue<T, R, Memory, counted_place>;
  using balancer = ds::balancer::b_round_robin<B>;
  using scan = exact_scan;
  static constexpr collection_info info = round_robin_distributed_info(
      B == 1 ? "dq-1rr" : "dq-rr", "distributed queue, round-robin balancer (b-RR DQ)");
};

template <unsigned B>
struct round_robin_stacks {
  template <class T, class R, class Memory>
  using backend = treiber_stack<T, R, Memory>;
  using balancer = ds::balancer::b_round_robin<B>;
  using scan = exact_scan;
  static constexpr collection_info info = round_robin_distributed_info(
      B == 1 ? "ds-1rr" : "ds-rr", "distributed stack, round-robin balancer (b-RR DS)");
};

template <class T, class R, class Memory = heap_memory>
using dq_1rr = distributed<T, R, Memory, round_robin_queues<1>>;
template <class T, class R, class Memory = heap_memory>
using ds_1rr = distributed<T, R, Memory, round_robin_stacks<1>>;

}  // namespace polder::ds
