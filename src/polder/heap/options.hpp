#pragma once
// options — what a user may ask of a heap at start. Plain data; heap/options_text.hpp reads and writes it as text.
#include <cstddef>
#include <cstdint>

namespace polder::heap {

enum class release_policy : std::uint8_t {
  dontneed,
  free
};  // MADV_DONTNEED shows in RSS at once; MADV_FREE is cheaper
enum class thp_policy : std::uint8_t { off, madvise, on };  // transparent huge pages for the arena

struct options {
  std::size_t arena_size = 0;     // bytes of address space to reserve; 0: the ladder decides
  std::size_t page_size = 0;      // bytes; 0: what the system says; a test may ask for a larger power of two
  std::uint32_t decay_ms = 1000;  // how long freed memory stays before it is returned; 0: at once
  release_policy release = release_policy::dontneed;
  thp_policy thp = thp_policy::off;
  bool populate = true;  // prefault classes that grow
  bool verbose = false;  // one line at start with the effective options
  bool stats = false;    // statistics at exit

  friend bool operator==(const options&, const options&) = default;
};

}  // namespace polder::heap
