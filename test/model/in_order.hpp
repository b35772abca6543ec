#pragma once
// in_order — what threads put into a queue and got from it: each putter's elements in order, none lost, none twice.
#include <optional>

#include "explore.hpp"
#include "structures.hpp"

namespace polder::model {

// Elements are 10 * who put it + how many-th of its own it is.
template <unsigned Threads>
class in_order {
 public:
  key next_of(unsigned self) { return key(int(10 * (self + 1)) + ++put_[self]); }
  bool got(unsigned self, const std::optional<key>& k) {
    if (k) got_[self][taken_[self]++] = k->value();
    return k.has_value();
  }
  // Of each putter the elements came out in order to each getter, what is left is in order, and there are as many.
  template <class Get>
  void rest(Get&& get) const {
    int came[Threads] = {};
    const auto follows = [&](int value, int(&last)[Threads]) {
      const int by = value / 10 - 1, n = value % 10;
      POLDER_MODEL_CHECK(n > last[by] && n <= put_[by]);
      last[by] = n;
      ++came[by];
    };
    int furthest[Threads] = {};
    for (unsigned t = 0; t != Threads; ++t) {
      int last[Threads] = {};
      for (int i = 0; i != taken_[t]; ++i) follows(got_[t][i], last);
      for (unsigned by = 0; by != Threads; ++by) furthest[by] = last[by] > furthest[by] ? last[by] : furthest[by];
    }
    while (const std::optional<key> k = get()) follows(k->value(), furthest);
    for (unsigned by = 0; by != Threads; ++by) POLDER_MODEL_CHECK(came[by] == put_[by]);
  }

 private:
  int got_[Threads][4] = {};
  int taken_[Threads] = {};
  int put_[Threads] = {};
};

}  // namespace polder::model
