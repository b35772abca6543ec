#pragma once
// options — what a user may ask of a heap at start. Plain data; heap/options_text.hpp reads and writes it as text.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <polder/base/bits.hpp>
#include <polder/base/config.hpp>
#include <polder/heap/tunable.hpp>

namespace polder::heap {

enum class release_policy : std::uint8_t {
  dontneed,
  free
};  // MADV_DONTNEED shows in RSS at once; MADV_FREE is cheaper
// Transparent huge pages for the arena: refused, left to the system, asked for, asked for where memory will be filled.
enum class thp_policy : std::uint8_t { off, madvise, on, large };
enum class stats_format : std::uint8_t { off, text, json, prometheus };  // of the statistics at exit
enum class numa_policy : std::uint8_t { off, on };                       // a thread's blocks lie on its node

inline constexpr std::size_t longest_file = 200;

struct options {
  std::size_t arena_size = 0;     // bytes of address space to reserve; 0: the ladder decides
  std::size_t page_size = 0;      // bytes; 0: what the system says; a test may ask for a larger power of two
  std::uint32_t decay_ms = 1000;  // how long freed memory stays before it is returned; 0: at once
  release_policy release = release_policy::dontneed;
  thp_policy thp = thp_policy::large;
  numa_policy numa = numa_policy::off;
  std::size_t limit = 0;                   // bytes of memory the heap may hold; 0: as much as there is
  std::size_t target = 0;                  // bytes above which it keeps nothing spare; 0: as cgroup says
  bool cgroup = true;                      // a target below the limit of the container it is in
  bool populate = true;                    // prefault classes that grow
  bool background = true;                  // a thread gives memory back where no other comes by
  bool hardened = hardened_build;          // mistakes are looked for at the price of time and memory
  std::uint32_t guard_rate = 1000;         // where hardened, one block in so many lies between guard pages; 0: none
  bool verbose = false;                    // one line at start with the effective options
  stats_format stats = stats_format::off;  // statistics at exit
  std::array<char, longest_file + 1> profile =
      {};                                // the files of a heap profile, without their endings; empty: none
  std::size_t profile_rate = 512 * KiB;  // bytes from one sample to the next, on average
  std::uint32_t profile_signal = 0;      // that turns it on and off; 0: it is on from the start
  std::array<char, longest_file + 1> timeline = {};     // the file of slow paths, ended by zeros; empty: none
  std::uint32_t timeline_events = 100'000;              // a thread
  std::uint64_t timeline_at_least = 0;                  // nanoseconds; shorter ones are only counted
  std::array<std::uint64_t, most_tunables> tuned = {};  // a heap's own, in the order of its tunables

  friend bool operator==(const options&, const options&) = default;
};

// What a heap with these tunables does when nobody asks for anything else.
constexpr options defaults(std::span<const tunable> own) {
  options o;
  for (std::size_t i = 0; i < own.size(); ++i) o.tuned[i] = own[i].value;
  return o;
}

}  // namespace polder::heap
