#pragma once
// type_list — the form of the four registries (heap/all.hpp and its like).

namespace polder {

template <class... T>
struct type_list {
  static constexpr unsigned size = sizeof...(T);
};

// Calls f.operator()<T>() for each type, in order.
template <class... T, class F>
constexpr void for_each(type_list<T...>, F f) {
  (f.template operator()<T>(), ...);
}

}  // namespace polder
