#pragma once
// nearest — "did you mean": the names closest to a mistyped one.
#include <string>
#include <string_view>
#include <vector>

namespace polder::bench {

// A phrase to end an error message with: "did you mean a or b?" when something is near, else "there are a, b, c".
std::string nearest(std::string_view wrong, const std::vector<std::string_view>& names);

}  // namespace polder::bench
