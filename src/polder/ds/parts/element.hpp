#pragma once
// element — how a collection keeps a T of its user, so that nothing inside can throw.
//
//   in_node<T>   whole, in a node: a T whose move cannot throw; else a box
//   in_word<T>   in 64 bits: a T that is copied bit by bit and fits; else a box
//
// keep() may throw (what T's move throws, std::bad_alloc): nothing is inside then. release() is for a T whose move cannot
// throw; of another the collection opens the box itself, and puts it back if T's move throws (parts/collection.hpp).
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace polder::ds {

template <class T>
struct box {
  explicit box(T&& v) : value(std::move(v)) {}
  T value;
  box* next = nullptr;  // whose box it is
};

template <class T>
struct in_node {
  static constexpr bool whole = std::is_nothrow_move_constructible_v<T>;
  using kept = std::conditional_t<whole, T, std::unique_ptr<box<T>>>;

  static kept keep(T&& value) {
    if constexpr (whole) return std::move(value);
    else return std::make_unique<box<T>>(std::move(value));
  }
  static T release(kept&& k) noexcept
    requires whole
  {
    return std::move(k);
  }
  static box<T>* box_of(kept&& k) noexcept { return k.release(); }  // of a T that is not kept whole
};

template <class T>
struct in_word {
  static constexpr bool whole = std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t);
  using kept = std::uint64_t;

  static kept keep(T&& value) {
    if constexpr (whole) {
      kept k = 0;
      std::memcpy(&k, std::addressof(value), sizeof(T));
      return k;
    } else {
      return reinterpret_cast<kept>(new box<T>(std::move(value)));
    }
  }
  static T release(kept k) noexcept {
    if constexpr (whole) {
      std::array<std::byte, sizeof(T)> bytes;
      std::memcpy(bytes.data(), &k, sizeof(T));
      return std::bit_cast<T>(bytes);
    } else {
      const std::unique_ptr<box<T>> b(box_of(k));
      return std::move(b->value);
    }
  }
  static box<T>* box_of(kept k) noexcept { return reinterpret_cast<box<T>*>(k); }
  // An element that is inside when its collection ends.
  static void drop(kept k) noexcept {
    if constexpr (!whole) delete box_of(k);
  }
};

}  // namespace polder::ds
