#pragma once
// misuse — how a user's mistake with a domain or a guard ends: one line that says which, and abort().
#include <cstddef>
#include <string_view>

namespace polder::smr {

// "polder: DOMAIN: what"
[[noreturn]] void misused(std::string_view scheme, std::string_view what) noexcept;
[[noreturn]] void misused(std::string_view scheme, std::string_view what, std::size_t figure,
                          std::string_view more) noexcept;

}  // namespace polder::smr
