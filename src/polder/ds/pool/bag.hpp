#pragma once
// bag — a pool whose threads put into lists of their own, take from these first, and then from each other's.
//
//   paper      Sundell, Gidenstam, Papatriantafilou and Tsigas, "A lock-free algorithm for concurrent bags", SPAA 2011
//   deviation  a list as a block_list, and the lists as locally_linearizable keeps its backends: threads come and go, where
//              there each has its place from the start
#include <polder/ds/parts/exact_scan.hpp>
#include <polder/ds/parts/locally_linearizable.hpp>
#include <polder/ds/pool/block_list.hpp>

namespace polder::ds {

struct own_block_lists {
  template <class T, class R, class Memory>
  using backend = block_list<T, R, Memory>;
  using scan = exact_scan;
  static constexpr collection_info info = {
      .name = "bag",
      .title = "lock-free bag",
      .kind = shape::pool,
      .order = semantics::pool,
      .putters = "lock-free, but for a thread's first",
      .getters = "lock-free",
      .paper = "Sundell, Gidenstam, Papatriantafilou and Tsigas, SPAA 2011",
      .year = 2011,
      .protection = needs::pointer,
  };
};

template <class T, class R, class Memory = heap_memory>
using bag = locally_linearizable<T, R, Memory, own_block_lists>;

}  // namespace polder::ds
