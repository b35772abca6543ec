#pragma once
// event — one recorded call of the malloc family, as the tool sees it.
#include <cstdint>
#include <string_view>

namespace polder::trace {

// operator new and delete are malloc, memalign and free; reallocarray is realloc; valloc and pvalloc are memalign.
enum class call : std::uint8_t {
  malloc,
  calloc,
  realloc,
  posix_memalign,
  aligned_alloc,
  memalign,
  free,
  usable_size,
};
inline constexpr unsigned calls = 8;
inline constexpr std::string_view call_names[calls] = {
    "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign", "free", "malloc_usable_size"};

constexpr bool is_aligned(call c) {
  return c == call::posix_memalign || c == call::aligned_alloc || c == call::memalign;
}

struct event {
  call what = call::malloc;
  bool failed = false;  // a null pointer where a block was asked for; then there is no object
  bool null = false;    // free, realloc and malloc_usable_size of a null pointer; that realloc makes an object
  bool gone = false;    // a realloc to nothing, which was a free
  std::uint8_t alignment_log2 = 0;
  std::uint32_t thread = 0;
  std::uint32_t object = 0;  // numbered in the order in which they were made
  std::uint64_t size = 0;
  std::uint64_t time_ns = 0;  // since the first event; never less than that of the event before

  bool makes() const {
    return !failed &&
           (what == call::malloc || what == call::calloc || is_aligned(what) || (what == call::realloc && null));
  }
  // Is about an object that is there.
  bool uses() const {
    return !failed && !null && (what == call::free || what == call::usable_size || what == call::realloc);
  }
  bool ends() const { return !failed && !null && (what == call::free || (what == call::realloc && gone)); }
  bool has_size() const { return what != call::free && what != call::usable_size; }
};

}  // namespace polder::trace
