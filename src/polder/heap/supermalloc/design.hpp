#pragma once
// design — what the thesis varies, one type a choice: a sheet names four.
//
//   paper      Kim 2023, sections 4.2.1 to 4.2.3 and 4.3
#include <cstddef>
#include <cstdint>

#include <polder/base/bits.hpp>
#include <polder/os/topology.hpp>

namespace polder::heap::supermalloc {

// ---- lists: how long a thread's are -----------------------------------------------------------------------------------

// 8 KiB, as a first-level cache is small: a processor's list is walked to split that much off (4.1).
struct short_lists {
  static constexpr std::size_t thread_bytes = 8 * KiB;
};
// As long as everywhere else: a list moves as three words, whole (4.2.3).
struct equal_lists {
  static constexpr std::size_t thread_bytes = MiB;
};

// ---- growth: what is bumped when all caches are empty -----------------------------------------------------------------

// One block, under the class's lock, for who asked.
struct one_at_a_time {
  static constexpr bool fills_the_cache = false;
};
// Half of what the global cache may hold (4.2.2). `step`: how often this was asked before.
struct half_the_cache {
  static constexpr bool fills_the_cache = true;
  static constexpr std::uint64_t objects(std::uint64_t, std::uint64_t half) { return half; }
};
// 1, 2, 4, 8, … objects, up to that (4.3, left there for future work).
struct doubling {
  static constexpr bool fills_the_cache = true;
  static constexpr std::uint64_t objects(std::uint64_t step, std::uint64_t half) {
    return step < 32 && std::uint64_t{1} << step < half ? std::uint64_t{1} << step : half;
  }
};

// ---- spill: what is freed when all caches are full --------------------------------------------------------------------

// The one object, to its page; no list moves (2.2.4).
struct to_its_page {
  static constexpr bool makes_room = false;
};
// Objects of the global cache, until it is half full (4.2.2).
struct half_the_cache_back {
  static constexpr bool makes_room = true;
};

// ---- levels: what lies between a processor's cache and the global one -------------------------------------------------

// Who tells where a thread runs; a test has its own.
struct this_machine {
  void begin() noexcept { topology_.read_configured(); }
  unsigned cpus() const noexcept { return topology_.cpus(); }
  unsigned cpu_limit() const noexcept { return topology_.cpu_limit(); }
  unsigned sockets() const noexcept { return topology_.sockets(); }
  unsigned homes() const noexcept { return topology_.nodes() == 1 ? 1 : topology_.node_limit(); }
  unsigned socket_of(unsigned cpu) const noexcept { return topology_.socket_of(cpu); }
  unsigned home_of(unsigned cpu) const noexcept { return topology_.node_of(cpu); }
  unsigned current_cpu() const noexcept { return topology_.current_cpu(); }

 private:
  os::topology topology_;
};

// Nothing: all processors come to one global cache.
template <class Machine = this_machine>
struct processors {
  static constexpr bool has_sockets = false;
  using machine = Machine;
};
// A cache of P_S lists for each socket (4.2.1). Where there are several nodes, chunks lie on the node they were bumped
// for, the global cache is cut by node, and blocks that are freed elsewhere go home.
template <class Machine = this_machine>
struct sockets {
  static constexpr bool has_sockets = true;
  using machine = Machine;
};

}  // namespace polder::heap::supermalloc
