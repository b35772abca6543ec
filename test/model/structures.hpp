#pragma once
// structures — what models of structures hold and who reclaims: a key that shows whether it was freed, and two worlds.
#include <polder/sync/atomic.hpp>

#include "explore.hpp"

namespace polder::model {

// As smr/reclaimer.hpp has it, which models do not include.
enum class protection { region, pointer };
struct protects_what {
  protection protects;
};

// A key whose reads and writes are checked for races. Freeing writes it.
struct key {
  plain<int> number;
  explicit key(int n) : number(n) {}
  key(const key& other) : number(other.value()) {}
  int value() const {
    const int n = number.get();
    POLDER_MODEL_CHECK(n > 0);  // not freed
    return n;
  }
  friend bool operator<(const key& a, const key& b) { return a.value() < b.value(); }
};
struct none {};

// Keeps everything: shows what the links alone order.
struct keeping {
  static constexpr protects_what info{protection::region};
  struct header {};
  struct domain {};
};

// Hazard pointers, scanned at each retirement.
template <unsigned Guards, unsigned Slots>
struct hazards {
  static constexpr protects_what info{protection::pointer};
  struct header {};
  struct domain {
    atomic<const void*> held[Guards][Slots];
  };
};

}  // namespace polder::model
