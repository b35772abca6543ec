#pragma once
// served — the flagship in use by a test.
#include <unistd.h>

#include <csignal>

#include <polder/base/bits.hpp>
#include <polder/heap/in_use_test.hpp>
#include <polder/heap/polder/polder_heap.hpp>
#include <polder/os/forked_test.hpp>

namespace polder::heap {

struct served : in_use<polder_heap<test_host>, lab> {
  // So much that no test comes near it, and so little that many fit.
  static constexpr options usual{.arena_size = GiB, .decay_ms = 1'000'000, .cgroup = false};

  // Two threads that begin at once may leave nobody's door announced, where that matters to none. Here it shows who else does.
  explicit served(const options& o = usual) : in_use(o) { test_host::nobody<lab>.door.exit(); }

  // ---- what the tables say
  lab& own() { return *in_use::own(); }
  mem::grain grain_of(const void* p) { return mem::grain(own().grain_of(p)); }
  std::uint32_t word_of(const void* p) { return own().words[grain_of(p)].load(order::relaxed); }
  mem::lab_number owner_of(const void* p) { return mem::word::owner(word_of(p)); }
  mem::span& span_of(const void* p) { return own().spans[grain_of(p)]; }

  polder_heap<test_host>& heap = it;
};

inline constexpr os::ending aborted{.status = -1, .signal = SIGABRT};

// In a child, as it would be noticed: by abort().
template <class F>
os::ending mistaken(F f) {
  return os::forked([&] {
    ::close(STDERR_FILENO);
    f();
    return 0;
  });
}

}  // namespace polder::heap
