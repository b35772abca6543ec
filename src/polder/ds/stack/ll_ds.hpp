#pragma once
// ll_ds — locally linearizable distributed stacks: p of them, or one for each thread that puts. See parts/locally_linearizable.hpp.
//
//   paper      Haas et al., CONCUR 2016, sec. 6
#include <polder/ds/parts/balancer/local.hpp>
#include <polder/ds/parts/distributed.hpp>
#include <polder/ds/parts/locally_linearizable.hpp>
#include <polder/ds/parts/single_scan.hpp>
#include <polder/ds/stack/treiber_stack.hpp>

namespace polder::ds {

template <class Scan>
struct local_stacks {
  template <class T, class R, class Memory>
  using backend = treiber_stack<T, R, Memory>;
  using balancer = ds::balancer::local;
  using scan = Scan;
  static constexpr collection_info info = {
      .name = Scan::says == emptiness::exact ? "ll-ds" : "ll-ds-nonlinempty",
      .title = "locally linearizable distributed stack",
      .kind = shape::stack,
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
struct own_stacks {
  template <class T, class R, class Memory>
  using backend = treiber_stack<T, R, Memory>;
  using scan = Scan;
  static constexpr collection_info info = {
      .name = Scan::says == emptiness::exact ? "ll-dyn-ds" : "ll-dyn-ds-nonlinempty",
      .title = "locally linearizable dynamic distributed stack",
      .kind = shape::stack,
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
using ll_ds = distributed<T, R, Memory, local_stacks<exact_scan>>;
template <class T, class R, class Memory = heap_memory>
using ll_ds_nonlinempty = distributed<T, R, Memory, local_stacks<single_scan>>;
template <class T, class R, class Memory = heap_memory>
using ll_dyn_ds = locally_linearizable<T, R, Memory, own_stacks<exact_scan>>;
template <class T, class R, class Memory = heap_memory>
using ll_dyn_ds_nonlinempty = locally_linearizable<T, R, Memory, own_stacks<single_scan>>;

}  // namespace polder::ds
