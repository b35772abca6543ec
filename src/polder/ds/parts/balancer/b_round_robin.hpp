#pragma once
// b_round_robin — b-RR: puts go from backend to backend in turn, and so do gets; b pairs of counters say whose turn it is,
// and a thread keeps to one pair.
//
//   paper      Haas et al., "Distributed queues in shared memory", CF 2013, sec. 3
//   deviation  threads find their pair by their number (smr/thread_slot.hpp), so a later thread inherits it. A counter has
//              64 bits and the pairs start apart
#include <cstddef>
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/smr/thread_slot.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds::balancer {

template <unsigned B>
class b_round_robin {
 public:
  static_assert(B != 0);

  explicit b_round_robin(std::size_t count) noexcept {
    for (unsigned i = 0; i != B; ++i) {
      pairs_[i].puts.store(count * i / B, order::relaxed);
      pairs_[i].gets.store(count * i / B, order::relaxed);
    }
  }

  template <class Backends>
  std::size_t put_at(Backends& all) noexcept {
    return std::size_t(mine().puts.fetch_add(1, order::relaxed) % all.size());
  }
  template <class Backends>
  std::size_t get_at(Backends& all) noexcept {
    return std::size_t(mine().gets.fetch_add(1, order::relaxed) % all.size());
  }
  template <class Backends>
  std::size_t scan_at(Backends& all, std::size_t tried) noexcept {
    return tried + 1 == all.size() ? 0 : tried + 1;
  }

 private:
  // How many puts and gets chose so far. Written and read by all threads of the pair, by fetch_add. A number is used for a
  // choice alone, so it orders nothing.
  struct pair {
    alignas(false_sharing_range) atomic<std::uint64_t> puts;
    alignas(false_sharing_range) atomic<std::uint64_t> gets;
  };
  pair& mine() noexcept { return pairs_[smr::thread_slot::mine() % B]; }

  pair pairs_[B];
};

}  // namespace polder::ds::balancer
