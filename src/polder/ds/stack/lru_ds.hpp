#pragma once
// lru_ds — LRU DS: p stacks, push and pop least recently used.
//
// k = 3 (p - 1). Let x lie in stack i, pushed at moment s and on top at moment t, when it is popped; S is a stack's size.
// Until t stack i never is smaller than it was right after s, and at t it has that size again: S(i) at t is S(i)'s least.
// What is in another stack j at t and was pushed after s is S(j) at t less S(j)'s least, at some moment m between s and t.
// S(j) = S(i) + a - b with a = P(j) - P(i) and b = D(j) - D(i), each from -1 to 1 (parts/lru_distributed.hpp). So
//
//   S(j)@t - S(j)@m  =  S(i)@t - S(i)@m  +  a@t - a@m  -  b@t + b@m  <=  0 + 2 + 0 + 1  =  3
//
// as S(i)@t <= S(i)@m, and b@t >= 0: i is popped, so it has had as few pops as any. Of each of p - 1 other stacks, 3.
#include <polder/ds/parts/lru_distributed.hpp>
#include <polder/ds/stack/counted_stack.hpp>

namespace polder::ds {

struct lru_stacks {
  template <class T, class R, class Memory>
  using backend = counted_stack<T, R, Memory>;
  static constexpr std::size_t k(std::size_t p) noexcept { return 3 * (p - 1); }
  static constexpr collection_info info = {
      .name = "lru-ds",
      .title = "distributed stack, least recently used (LRU DS)",
      .kind = shape::stack,
      .order = semantics::k_out_of_order,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Haas, Henzinger, Kirsch, Lippautz, Payer, Sezgin and Sokolova, CF 2013",
      .year = 2013,
      .parameters = "p: how many backends; twice the processors. k = 3 (p - 1)",
      .protection = needs::pointer,
  };
};

template <class T, class R, class Memory = heap_memory>
using lru_ds = lru_distributed<T, R, Memory, lru_stacks>;

}  // namespace polder::ds
