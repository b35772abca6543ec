// preload_own_code — where this library lies, so that a heap profile begins with whoever called malloc.
#include <polder/malloc/profile.hpp>

// The linker's, of this library.
extern "C" [[gnu::visibility("hidden")]] const char __ehdr_start, etext;

namespace polder::face {
namespace {

[[gnu::constructor]] void find_own_code() {
  own_code = {reinterpret_cast<std::uintptr_t>(&__ehdr_start), reinterpret_cast<std::uintptr_t>(&etext)};
}

}  // namespace
}  // namespace polder::face
