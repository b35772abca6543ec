#pragma once
// least_recently_used — LRU: whose turn it is. An operation is for a backend that had as few of its kind as any.
//
//   paper      Haas et al., "Distributed queues in shared memory", CF 2013, sec. 3
//   progress   lock-free: a round is left by a backend only when an operation got through
//   deviation  a round of 64 bits instead of the sum of all operations divided by p
//
//     round r ──every backend passed──▶ round r + 1
//
// Invariant: in round r each backend had r or r + 1 operations of this kind. It holds because an operation in round r happens
// only on a backend that had exactly r, in one step with its being counted, and the round is left only by who saw that each
// backend has had more. So any two backends differ by one at most.
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds::balancer {

class least_recently_used {
 public:
  std::uint64_t round() const noexcept { return round_.load(order::acquire); }  // sync: lru-round

  // The caller saw that each backend had more than `round` operations.
  void leave(std::uint64_t round) noexcept {
    round_.cas(round, round + 1, order::release, order::relaxed);  // sync: lru-round
  }

 private:
  // Written by who leaves a round; read by all before they choose.
  //   order  lru-round: who is in a round knows of all operations of the rounds before
  //   ABA    it only grows
  alignas(false_sharing_range) atomic<std::uint64_t> round_{0};
};

}  // namespace polder::ds::balancer
