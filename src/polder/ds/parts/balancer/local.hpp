#pragma once
// local — a thread's puts all go to one backend, its own; its gets look there first, then from a random one around.
//
//   paper      Haas et al., "Local linearizability for concurrent container-type data structures", CONCUR 2016, sec. 6
//   deviation  the thread's number modulo p, where Scal shuffles the numbers first: these are dense, and threads that start
//              together have neighbouring ones, so they have different backends anyway
#include <cstddef>

#include <polder/ds/parts/random_draw.hpp>
#include <polder/smr/thread_slot.hpp>

namespace polder::ds::balancer {

class local {
 public:
  explicit local(std::size_t) noexcept {}

  template <class Backends>
  std::size_t put_at(Backends& all) noexcept {
    return (smr::thread_slot::mine() - 1) % all.size();
  }
  template <class Backends>
  std::size_t get_at(Backends& all) noexcept {
    return put_at(all);
  }
  template <class Backends>
  std::size_t scan_at(Backends& all, std::size_t) noexcept {
    return random_draw(all.size());
  }
};

}  // namespace polder::ds::balancer
