#pragma once
// structures — every queue, stack, deque and pool of the registry, to be played and checked.
#include <memory>
#include <string>
#include <vector>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/collection_suite_test.hpp>

#include "checker/play.hpp"
#include "checker/promise.hpp"

namespace polder::checker {

using subject = ds::collection_suite::tested<std::uint64_t>;

struct structure {
  std::string name;
  ds::collection_info info;
  ds::collection_suite::maker<std::uint64_t> make;
  unsigned most_putters = 0, most_getters = 0;
  // Of a deque: a small history with sides, of an object made for it. Null elsewhere.
  history (*sided)(std::uint64_t seed) = nullptr;

  plan planned(unsigned threads, std::size_t operations, std::uint64_t seed) const {
    plan p{.threads = threads, .operations = operations, .seed = seed};
    p.most_putters = most_putters, p.most_getters = most_getters;
    p.waits_on_empty = info.empty == ds::emptiness::waits;
    if (info.order == ds::semantics::quiescently_consistent) p.meet_every = 100;
    return p;
  }
};

const std::vector<structure>& structures();

}  // namespace polder::checker
