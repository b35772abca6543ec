#pragma once
// random_distributed — d-RA DQ and d-RA DS: queues or stacks chosen at random, d = 1 and d = 2.
//
//   paper      Haas et al., CF 2013, sec. 3: strict pools, since emptiness is exact; the order is good on average only, and
//              better for d = 2: of two queues put takes the shorter, get the longer
#include <polder/ds/parts/balancer/d_random.hpp>
#include <polder/ds/parts/distributed.hpp>
#include <polder/ds/queue/ms_queue.hpp>
#include <polder/ds/stack/treiber_stack.hpp>

namespace polder::ds {

constexpr collection_info random_distributed_info(std::string_view name, std::string_view title) {
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

template <unsigned D>
struct random_queues {
  template <class T, class R, class Memory>
  using backend = ms_queue<T, R, Memory, counted_place>;
  using balancer = ds::balancer::d_random<D>;
  using scan = exact_scan;
  static constexpr collection_info info = random_distributed_info(D == 1   ? "dq-1random"
                                                                  : D == 2 ? "dq-2random"
                                                                           : "dq-random",
                                                                  "distributed queue, random balancer (d-RA DQ)");
};

template <unsigned D>
struct random_stacks {
  // Only who compares lengths pays for them.
  template <class T, class R, class Memory>
  using backend = treiber_stack<T, R, Memory, std::conditional_t<D == 1, uncounted, counted_place>>;
  using balancer = ds::balancer::d_random<D>;
  using scan = exact_scan;
  static constexpr collection_info info = random_distributed_info(D == 1   ? "ds-1random"
                                                                  : D == 2 ? "ds-2random"
                                                                           : "ds-random",
                                                                  "distributed stack, random balancer (d-RA DS)");
};

template <class T, class R, class Memory = heap_memory>
using dq_1random = distributed<T, R, Memory, random_queues<1>>;
template <class T, class R, class Memory = heap_memory>
using dq_2random = distributed<T, R, Memory, random_queues<2>>;
template <class T, class R, class Memory = heap_memory>
using ds_1random = distributed<T, R, Memory, random_stacks<1>>;
template <class T, class R, class Memory = heap_memory>
using ds_2random = distributed<T, R, Memory, random_stacks<2>>;

}  // namespace polder::ds
