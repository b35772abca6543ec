#pragma once
// quality — how far from its order elements came out: each worker has a view of the collection that writes down what it put and
// got, and when, and the checkers' lateness (checker/lateness.hpp) is told of that. Writing takes time, so it has runs of its
// own.
//
//   lateness_mean, _p99, _max   how many elements certainly overtook one (Haas and others, CF 2013, sec. 5.3)
//   age_mean, _p99, _max        how many it certainly overtook
//   k_measured                  the most that any overtook: no k less than that explains the history
//   k_promised                  the structure's own k, 0 of a linearizable one; a run with a greater k_measured fails
//   as_stack                    1: against a stack's order, 0: against a queue's. What promises neither, a deque or a pool, is
//                               held to the one that it is nearer to
#include <cstddef>
#include <memory>

#include "collection/table.hpp"
#include "core/run.hpp"

namespace polder::bench {

class quality {
 public:
  struct recording;

  // Not asked for: the views are the collection itself.
  quality(bool asked, any_collection& of, unsigned workers, std::size_t elements);
  quality(const quality&) = delete;
  quality& operator=(const quality&) = delete;
  ~quality();

  any_collection& view(unsigned worker);

  // Nobody works any more.
  void tell(run& r);

 private:
  any_collection& of_;
  std::unique_ptr<recording> recording_;
};

}  // namespace polder::bench
