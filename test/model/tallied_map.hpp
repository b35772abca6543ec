#pragma once
// tallied_map — a map under the model checker, with what each thread has done to each key: what is there in the end is what was put
// less what was dropped.
#include <optional>

#include "explore.hpp"
#include "structures.hpp"

namespace polder::model {

// Keys: from 1 to that.
template <class Map, class Domain, int Keys, unsigned Threads>
struct tallied_map {
  Domain domain;
  std::optional<Map> map{domain};
  int balance[Keys + 1][Threads] = {};  // insertions less removals that succeeded

  bool put(unsigned self, int k) {
    const bool done = map->insert(key(k));
    balance[k][self] += done;
    return done;
  }
  bool drop(unsigned self, int k) {
    const bool done = map->erase(key(k));
    balance[k][self] -= done;
    return done;
  }
  bool has(int k) const { return map->contains(key(k)); }
  void comes_out() {
    bool there[Keys + 1] = {};
    map->for_each_quiescent([&](const key& k, none) { there[k.value()] = true; });
    for (int k = 1; k != Keys + 1; ++k) {
      int sum = 0;
      for (const int b : balance[k]) sum += b;
      POLDER_MODEL_CHECK(sum == int(there[k]) && sum == int(has(k)));
    }
    map->validate();
    map.reset();
  }
};

}  // namespace polder::model
