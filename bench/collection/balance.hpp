#pragma once
// balance — what came out of a collection is what was put in: how many, their sum, and a sum that no exchange of two elements
// for two others leaves as it was.
#include <cstdint>

#include "collection/table.hpp"
#include "core/run.hpp"

namespace polder::bench {

struct alignas(128) element_balance {
  std::uint64_t in = 0, out = 0;
  std::uint64_t sum = 0, mixed = 0;  // of those put less those that came out, modulo 2^64

  void put(std::uint64_t e) { ++in, sum += e, mixed += mix(e); }
  void got(std::uint64_t e) { ++out, sum -= e, mixed -= mix(e); }

 private:
  static std::uint64_t mix(std::uint64_t e) { return splitmix64(e); }
};

// A worker's side of a collection: calls that wait while it is full or empty, and their counts.
class element_hands {
 public:
  element_hands(any_collection& c, element_balance& b) : of_(c), balance_(b) {}

  void put(std::uint64_t e) {
    patience idle;
    while (!of_.put(e)) ++full_, idle.wait();
    balance_.put(e);
  }
  bool try_get(std::uint64_t& e) {
    if (!of_.get(e)) {
      ++empty_;
      return false;
    }
    balance_.got(e);
    return true;
  }
  std::uint64_t get() {
    std::uint64_t e = 0;
    patience idle;
    while (!try_get(e)) idle.wait();
    return e;
  }
  std::uint64_t full() const { return full_; }
  std::uint64_t empty() const { return empty_; }

 private:
  any_collection& of_;
  element_balance& balance_;
  std::uint64_t full_ = 0, empty_ = 0;
};

class element_balances {
 public:
  explicit element_balances(unsigned workers) : of_(workers) {}
  element_balance& of(unsigned worker) { return of_[worker]; }

  // Nobody works any more.
  void check(run& r) const {
    element_balance all;
    for (const element_balance& b : of_) all.in += b.in, all.out += b.out, all.sum += b.sum, all.mixed += b.mixed;
    if (all.in != all.out)
      r.fail("%llu elements were put in and %llu came out", static_cast<unsigned long long>(all.in),
             static_cast<unsigned long long>(all.out));
    if (all.sum != 0 || all.mixed != 0) r.fail("what came out is not what was put in");
  }

 private:
  mapped_array<element_balance> of_;
};

}  // namespace polder::bench
