#pragma once
// verdict — whether a history is as it should be, and if not, one thing that is wrong with it.
#include <ostream>
#include <string>
#include <utility>

namespace polder::checker {

struct verdict {
  std::string wrong = {};  // empty: nothing is

  bool holds() const { return wrong.empty(); }
  explicit operator bool() const { return holds(); }
  friend std::ostream& operator<<(std::ostream& out, const verdict& v) {
    return out << (v.holds() ? "it holds" : v.wrong);
  }
};

}  // namespace polder::checker
