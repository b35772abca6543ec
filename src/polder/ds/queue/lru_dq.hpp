#pragma once
// lru_dq — LRU DQ: p queues, put and get least recently used.
//
// k = p - 1. Give an element that is the n-th put of its queue the round n. A put of round n + 1 needs the put round n + 1,
// which every queue's put of round n came before: so who came earlier has no later round. A get takes of its queue the
// element whose round is the get round, g; every queue has had g gets or more, so all elements of earlier rounds are out.
// What came earlier and is still inside has round g, and is the only one of that in its queue: p - 1 others.
#include <polder/ds/parts/lru_distributed.hpp>
#include <polder/ds/queue/ms_queue.hpp>

namespace polder::ds {

struct lru_queues {
  template <class T, class R, class Memory>
  using backend = ms_queue<T, R, Memory, counted_place>;
  static constexpr std::size_t k(std::size_t p) noexcept { return p - 1; }
  static constexpr collection_info info = {
      .name = "lru-dq",
      .title = "distributed queue, least recently used (LRU DQ)",
      .kind = shape::queue,
      .order = semantics::k_out_of_order,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Haas, Henzinger, Kirsch, Lippautz, Payer, Sezgin and Sokolova, CF 2013",
      .year = 2013,
      .parameters = "p: how many backends; twice the processors. k = p - 1",
      .protection = needs::pointer,
  };
};

template <class T, class R, class Memory = heap_memory>
using lru_dq = lru_distributed<T, R, Memory, lru_queues>;

}  // namespace polder::ds
