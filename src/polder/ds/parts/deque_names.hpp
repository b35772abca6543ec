#pragma once
// deque_names — put and get at the two sides of a deque, over its  insert(e, side)  and  remove(side).
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace polder::ds {

enum class side : std::uint8_t { left, right };
constexpr side other(side s) { return s == side::left ? side::right : side::left; }

// As put() and get() of parts/collection.hpp. Self befriends it.
template <class Self, class T>
struct deque_names {
  bool put_left(T&& value) { return self().put_at(std::move(value), side::left); }
  bool put_left(const T& value)
    requires std::is_copy_constructible_v<T>
  {
    return put_left(T(value));
  }
  bool put_right(T&& value) { return self().put_at(std::move(value), side::right); }
  bool put_right(const T& value)
    requires std::is_copy_constructible_v<T>
  {
    return put_right(T(value));
  }
  std::optional<T> get_left() { return self().get_at(side::left); }
  std::optional<T> get_right() { return self().get_at(side::right); }

 private:
  Self& self() noexcept { return *static_cast<Self*>(this); }
};

}  // namespace polder::ds
