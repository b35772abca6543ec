#pragma once
// some_types — of the types over which a suite is asked, those that a build has: all of them, or every third and the first where
// the compiler takes seconds for each (POLDER_FEW_TYPES: sanitizers in the short form of the tests, and coverage).
#include <gtest/gtest.h>

#include <cstddef>
#include <tuple>
#include <utility>

namespace polder {

#ifdef POLDER_FEW_TYPES
template <class Types, class Numbers>
struct thirds;
template <class... T, std::size_t... n>
struct thirds<std::tuple<T...>, std::index_sequence<n...>> {
  using type = testing::Types<std::tuple_element_t<3 * n, std::tuple<T...>>...>;
};
template <class... T>
using some_types = typename thirds<std::tuple<T...>, std::make_index_sequence<(sizeof...(T) + 2) / 3>>::type;
#else
template <class... T>
using some_types = testing::Types<T...>;
#endif

}  // namespace polder
