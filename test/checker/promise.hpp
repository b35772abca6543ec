#pragma once
// promise — what a structure's info says of it, held against a history: which checkers are asked, and what they found.
//
//   always                  conservation, and no get before its put
//   empty exact             no wrong empties
//   empty counted           no wrong empties, by the numbers of elements and of gets
//   empty may err           none while nobody else was at work
//   linearizable            queue or stack; a deque's history in full if it is small
//   k out of order          what was certainly overtaken is at most k
//   locally linearizable    queue or stack, of each putter
//   quiescently consistent  queue or stack between quiescent moments
#include <cstddef>
#include <string>

#include <polder/ds/collection_info.hpp>

#include "checker/conservation.hpp"
#include "checker/deque.hpp"
#include "checker/emptiness.hpp"
#include "checker/k_out_of_order.hpp"
#include "checker/local.hpp"
#include "checker/pool.hpp"
#include "checker/queue.hpp"
#include "checker/quiescent.hpp"
#include "checker/stack.hpp"

namespace polder::checker {

struct promised {
  ds::shape kind;
  ds::semantics order;
  ds::emptiness empty = ds::emptiness::exact;
  std::size_t k = 0;  // of one that is k out of order; else 0
};

inline promised promised_by(const ds::collection_info& info, std::size_t k) {
  return {info.kind, info.order, info.empty, info.order == ds::semantics::k_out_of_order ? k : 0};
}

inline verdict in_order(ds::shape kind, std::span<const element> all) {
  switch (kind) {
    case ds::shape::queue: return queue(all);
    case ds::shape::stack: return stack(all);
    case ds::shape::deque:
    case ds::shape::pool: break;
  }
  return {};
}

inline verdict empties_kept(ds::emptiness promise, const elements& of) {
  switch (promise) {
    case ds::emptiness::exact: return emptiness_of(of.all, of.empties).exact();
    case ds::emptiness::counted: return emptiness_of(by_number(of.all), of.empties).exact();
    case ds::emptiness::may_err:
    case ds::emptiness::waits: break;
  }
  if (verdict v = emptiness_of(of.all, undisturbed(of)).exact(); !v) return {"with nobody else at work " + v.wrong};
  return {};
}

// Of a history at whose end all was taken out. Gives the first promise that was broken.
inline verdict kept(const promised& p, const elements& of) {
  if (verdict v = conservation(of); !v) return v;
  if (verdict v = empties_kept(p.empty, of); !v) return v;
  switch (p.order) {
    case ds::semantics::linearizable: return in_order(p.kind, of.all);
    case ds::semantics::k_out_of_order: {
      if (p.kind != ds::shape::queue && p.kind != ds::shape::stack) return {};
      const std::uint32_t k = certain_k(of.all, p.kind == ds::shape::queue ? order_of::queue : order_of::stack);
      if (k <= p.k) return {};
      return {"an element overtook " + std::to_string(k) + ", and k is " + std::to_string(p.k)};
    }
    case ds::semantics::locally_linearizable:
      return local(of.all, [&](std::span<const element> own) { return in_order(p.kind, own); });
    case ds::semantics::quiescently_consistent: return in_order(p.kind, quiescent(of).of.all);
    case ds::semantics::pool: return pool(of);
  }
  return {};
}

// The same of a history of up to 64 operations, by search: exact for k too, and for deques. With an order for each
// thread, or for quiescent moments, there is no such search: nothing is asked.
inline verdict searched(const promised& p, history h) {
  if (p.empty != ds::emptiness::exact) {
    for (std::vector<event>& part : h) std::erase_if(part, [](const event& e) { return e.what == call::empty; });
  }
  const auto holds = [&] {
    switch (p.order) {
      case ds::semantics::linearizable:
      case ds::semantics::k_out_of_order: break;
      case ds::semantics::pool: return linearizable(sequential_pool(), h);
      case ds::semantics::locally_linearizable:
      case ds::semantics::quiescently_consistent: return true;
    }
    switch (p.kind) {
      case ds::shape::queue: return linearizable(sequential_queue(p.k), h);
      case ds::shape::stack: return linearizable(sequential_stack(p.k), h);
      case ds::shape::deque: return linearizable(sequential_deque(p.k), h);
      case ds::shape::pool: return linearizable(sequential_pool(), h);
    }
    return true;
  };
  if (holds()) return {};
  return {"no order of the operations is one that is promised"};
}

}  // namespace polder::checker
