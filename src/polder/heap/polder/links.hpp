#pragma once
// links — how the flagship's free lists are written in this build.
#include <type_traits>

#include <polder/base/config.hpp>
#include <polder/mem/links.hpp>

namespace polder::heap {

using links = std::conditional_t<hardened_build, mem::encoded_links, mem::plain_links>;

// Addresses in free blocks, to be read by anybody: signposts (mem/signposts.hpp) are for plain lists.
inline constexpr bool put_signposts = !hardened_build;

}  // namespace polder::heap
