#pragma once
// ll_dq — locally linearizable distributed queues: p of them, or one for each thread that puts. See parts/locally_linearizable.hpp.
//
//   paper      Haas et al., CONCUR 2016, sec. 6
#include <polder/ds/parts/balancer/local.hpp>
#include <polder/ds/parts/distributed.hpp>
#include <polder/ds/parts/locally_linearizable.hpp>
#include <polder/ds/parts/single_scan.hpp>
#include <polder/ds/queue/ms_queue.hpp>

namespace polder::ds {

template <class Scan>
struct local_queues {
  template <class T, class R, class Memory>
  using backend = ms_queue<T, R, Memory, counted_place>;
  using balancer = ds::balancer::local;
  using scan = Scan;
  static constexpr collection_info info = {
      .name = Scan::says == emptiness::exact ? "ll-dq" : "ll-dq-nonlinempty",
      .title = "locally linearizable distributed queue",
      .kind = shape::queue,
      .order = semantics::locally_linearizable,
      .empty = Scan::says,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Haas, Henzinger, Holzer, Kirsch, Lippautz, Payer, Sezgin, Sokolova and Veith, CONCUR 2016",
      .year = 2016,
      .parameters = of_p_backends,
      .protection = needs::pointer,
  };
};

template <class Scan>
struct own_queues {
  template <class T, class R, class Memory>
  using backend = ms_queue<T, R, Memory, counted_place>;
  using scan = Scan;
  static constexpr collection_info info = {
      .name = Scan::says == emptiness::exact ? "ll-dyn-dq" : "ll-dyn-dq-nonlinempty",
      .title = "locally linearizable dynamic distributed queue",
      .kind = shape::queue,
      .order = semantics::locally_linearizable,
      .empty = Scan::says,
      .putters = "lock-free, but for a thread's first",
      .getters = "lock-free",
      .paper = "Haas, Henzinger, Holzer, Kirsch, Lippautz, Payer, Sezgin, Sokolova and Veith, CONCUR 2016",
      .year = 2016,
      .protection = needs::pointer,
  };
};

template <class T, class R, class Memory = heap_memory>
using ll_dq = distributed<T, R, Memory, local_queues<exact_scan>>;
template <class T, class R, class Memory = heap_memory>
using ll_dq_nonlinempty = distributed<T, R, Memory, local_queues<single_scan>>;
template <class T, class R, class Memory = heap_memory>
using ll_dyn_dq = locally_linearizable<T, R, Memory, own_queues<exact_scan>>;
template <class T, class R, class Memory = heap_memory>
using ll_dyn_dq_nonlinempty = locally_linearizable<T, R, Memory, own_queues<single_scan>>;

}  // namespace polder::ds
