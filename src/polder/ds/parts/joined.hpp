#pragma once
// joined — a name that is made of others while compiling.
#include <array>
#include <cstddef>
#include <string_view>

namespace polder::ds {

template <const std::string_view&... Parts>
class joined {
  static constexpr auto text = [] {
    std::array<char, (Parts.size() + ... + 0)> all{};
    std::size_t at = 0;
    for (const std::string_view part : {Parts...}) {
      for (const char c : part) all[at++] = c;
    }
    return all;
  }();

 public:
  static constexpr std::string_view value{text.data(), text.size()};
};

}  // namespace polder::ds
