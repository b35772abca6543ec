#pragma once
// garbage_looks — how much a domain keeps unreclaimed while threads work: a look each millisecond, by whichever comes first.
//
// The mean is over epochs: of the looks that fall into one epoch the first counts, so that an epoch that lasts does not
// weigh more than another. Where a scheme has none, all looks count.
#include <atomic>
#include <cstdint>

#include <polder/smr/reclaimer.hpp>

#include "core/run.hpp"

namespace polder::bench {

// What a domain says at a moment; as far as it can.
struct garbage_look {
  static constexpr std::uint64_t untold = ~std::uint64_t{0};

  smr::garbage all;
  std::uint64_t most_of_one = untold;  // unreclaimed objects of the thread that has the most
  std::uint64_t epoch = untold;        // or the token's round
};

// by_thread: who retires also reclaims, or nearly so.
template <class Domain>
garbage_look look_at(const Domain& d, bool by_thread) {
  garbage_look g{.all = d.statistics()};
  if constexpr (requires { d.each_member([](const smr::garbage&) {}); }) {
    if (by_thread) {
      g.most_of_one = 0;
      d.each_member([&](const smr::garbage& m) {
        if (m.retired > m.reclaimed && m.unreclaimed() > g.most_of_one) g.most_of_one = m.unreclaimed();
      });
    }
  }
  if constexpr (requires { d.scheme().now(); }) g.epoch = d.scheme().now();
  else if constexpr (requires { d.scheme().rounds(); }) g.epoch = d.scheme().rounds();
  return g;
}

class garbage_looks {
 public:
  // While nobody works.
  void begin(const garbage_look& now) { first_ = now; }

  // Is it time, and is it the caller's turn? Then it calls take().
  bool due(std::int64_t now_ns) {
    std::int64_t next = next_ns_.load(std::memory_order_relaxed);
    return now_ns >= next &&
           next_ns_.compare_exchange_strong(next, now_ns + 1'000'000, std::memory_order_relaxed) &&
           !looking_.test_and_set(std::memory_order_acquire);  // sync: one-looks
  }
  void take(const garbage_look& g);

  // While nobody works.
  void tell(run& r, const garbage_look& last) const;

 private:
  garbage_look first_;
  std::atomic<std::int64_t> next_ns_{0};
  std::atomic_flag looking_{};

  // Who looks alone touches these.
  std::uint64_t most_ = 0;
  std::uint64_t most_bytes_ = 0;
  std::uint64_t most_of_one_ = garbage_look::untold;
  std::uint64_t epoch_ = garbage_look::untold;
  double sum_ = 0;
  double count_ = 0;
};

}  // namespace polder::bench
