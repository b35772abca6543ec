#pragma once
// modes — what of its environment a heap found usable, and works with. Plain data.
#include <cstddef>
#include <cstdint>

namespace polder::heap {

enum class background_mode : std::uint8_t {
  off,      // by option
  waits,    // it comes when there is something to give back and several threads have allocated
  runs,     // this moment
  refused,  // by the system, and decay is driven by use alone
};

enum class huge_page_mode : std::uint8_t {
  off,      // asked for nowhere
  system,   // left to the system
  on,       // asked for everywhere
  large,    // asked for where memory will be filled
  refused,  // asked for, and the kernel has none
};

struct modes {
  bool membarrier = false;  // LABs of idle threads can be claimed; false: the kernel refuses
  background_mode background = background_mode::off;
  int background_error = 0;  // why it was refused, as errno tells it
  huge_page_mode huge_pages = huge_page_mode::off;
  std::size_t page_size = 0;     // bytes that it works with
  std::size_t cgroup_limit = 0;  // bytes, of the container; 0: none, or not looked for
};

}  // namespace polder::heap
