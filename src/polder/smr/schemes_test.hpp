#pragma once
// schemes_test — the schemes of a list as the types of a test suite, each under its own name.
#include <gtest/gtest.h>

#include <string>

#include <polder/smr/all.hpp>

namespace polder::smr {

#ifdef POLDER_FEW_TYPES
using tested = families;
#else
using tested = all;
#endif

template <class List>
struct tests_of;
template <class... R>
struct tests_of<type_list<R...>> {
  using types = testing::Types<R...>;
};

struct names_of_schemes {
  template <class R>
  static std::string GetName(int) {
    std::string name(R::info.name);
    for (char& c : name) c = c == '-' ? '_' : c;
    return name;
  }
};

}  // namespace polder::smr
