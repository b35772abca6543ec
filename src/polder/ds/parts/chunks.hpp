#pragma once
// chunks — places for elements, an array of them at a time, for a sequential structure: nothing in here throws.
//
// The chunk that was given back last is kept for the next time, so that a structure that goes to and fro over the end of one
// does not ask its memory each time.
#include <cstddef>
#include <utility>

#include <polder/ds/parts/held.hpp>

namespace polder::ds {

// How many make a chunk of about a KiB.
template <class E>
constexpr std::size_t chunk_room = sizeof(E) < 100 ? (1024 - 16) / sizeof(E) : 8;

template <class E, class Memory>
class chunks {
 public:
  static constexpr std::size_t room = chunk_room<E>;

  struct chunk : Memory {
    chunk* next = nullptr;
    held<E> places[room];
  };

  chunks() = default;
  chunks(const chunks&) = delete;
  chunks& operator=(const chunks&) = delete;
  ~chunks() { delete spare_; }

  // Null: there is no memory.
  chunk* take() noexcept {
    if (chunk* const c = std::exchange(spare_, nullptr)) {
      c->next = nullptr;
      return c;
    }
    try {
      return new chunk;
    } catch (...) {
      return nullptr;
    }
  }
  void give(chunk* c) noexcept { delete std::exchange(spare_, c); }

 private:
  chunk* spare_ = nullptr;
};

}  // namespace polder::ds
