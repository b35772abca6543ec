#pragma once
// conservation — nothing is lost, invented or doubled. Of a history that ends with all being taken out.
#include "checker/elements.hpp"

namespace polder::checker {

inline verdict conservation(const elements& of) {
  if (const verdict v = of.sane(); !v) return v;
  if (of.left == 0) return {};
  const auto lost = std::find_if(of.all.begin(), of.all.end(), [](const element& e) { return !e.was_got(); });
  return {std::to_string(of.left) + " lost, value " + std::to_string(lost->value) + " among them"};
}

}  // namespace polder::checker
