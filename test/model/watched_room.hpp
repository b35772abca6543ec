#pragma once
// watched_room — cells of a structure whose elements come and go: one that is made where another was taken from races with
// that taking, unless something orders the two. An element that brings what the model checker watches is new each time.
#include <cstddef>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include <polder/sync/atomic.hpp>

#include "explore.hpp"
#include "ring_worlds.hpp"

namespace polder::model {

// Where a structure's cells come from, one room at a time.
class watched_room {
 public:
  static void* operator new(std::size_t bytes, std::align_val_t a) {
    first_ = static_cast<std::byte*>(std::aligned_alloc(std::size_t(a), bytes));
    end_ = first_ + bytes;
    for (place& p : places_) p.cell = nullptr, p.changes.emplace();
    return first_;
  }
  static void* operator new(std::size_t bytes) { return operator new(bytes, std::align_val_t(16)); }
  static void operator delete(void* room) noexcept {
    for (place& p : places_) p.changes.reset();
    first_ = end_ = nullptr;
    std::free(room);
  }
  static void operator delete(void* room, std::align_val_t) noexcept { operator delete(room); }

  // An element came to the cell, or left it. What lies elsewhere is one thread's.
  static void changed(const void* cell) {
    if (cell < first_ || cell >= end_) return;
    for (place& p : places_) {
      if (p.cell == nullptr) p.cell = cell;
      if (p.cell == cell) return p.changes->set(p.changes->get() + 1);
    }
    POLDER_MODEL_CHECK(false);  // more cells than there are places
  }

 private:
  struct place {
    const void* cell;
    std::optional<plain<int>> changes;
  };
  static inline place places_[4];
  static inline std::byte *first_ = nullptr, *end_ = nullptr;
};

struct lodger : element {
  explicit lodger(int n) noexcept : element(n) {}
  lodger(lodger&& other) noexcept : element(std::move(other)) {
    watched_room::changed(&other);
    watched_room::changed(this);
  }
  lodger& operator=(lodger&& other) noexcept {
    element::operator=(std::move(other));
    watched_room::changed(&other);
    watched_room::changed(this);
    return *this;
  }
};

}  // namespace polder::model
