#pragma once
// clock — moments such that whoever recorded the earlier one had really finished before the other began.
//
// A checker takes an operation A to be before B if A.end() < B.begin(). It raises no false alarm if that is so only
// when all that A did was seen by all when B started; operations that it takes to overlap though they did not cost it
// sharpness only. So what is asked of a clock: begin() is read before the operation's first access to memory, end()
// when its last store can be seen by everybody, and a smaller number is an earlier moment on every processor.
//
//   ticks     the processor's counter. x86-64: `rdtsc; lfence` begins (lfence keeps what follows from starting before
//             rdtsc has its number), `mfence; lfence; rdtsc` ends (mfence empties the store buffer, lfence keeps rdtsc
//             behind it): the two sequences that Intel's manual gives at RDTSC. The counters of all processors agree if
//             the kernel offers them as a clock, which it stops doing once it has seen them differ: agree(). AArch64:
//             `mrs; isb` and `dsb ish; isb; mrs`, of a counter that the architecture makes the same for all; it may be
//             coarse (25 MHz), which makes neighbours overlap and nothing worse. Cost: no shared line is touched; the
//             fences keep an operation's misses from running into the next one's.
//   counter   one shared word: begin() loads it, end() adds one. If A.end() < B.begin(), B's acquire read what A's
//             release wrote or a later addition, so all of A happens before all of B, by the language alone. Cost: a
//             line that every operation takes from another processor, and threads that meet at it.
//
// Measured 2026-11-23 on a virtual Xeon, begin() and end() of nothing: 45 ns by ticks, 9 ns by the counter while no other
// processor takes its line, else what the line's way takes. `checker.run` prints what they cost where it runs. Either clock
// orders the end of an operation before the beginning of the next in the same thread: what a structure lacks there is not
// seen while it is recorded.
#include <sched.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

#include <polder/base/config.hpp>
#include <polder/os/ticks.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::checker {

// The calling thread runs there alone from now on. False: it may not.
inline bool bind_to(int processor) noexcept {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(processor, &only);
  return ::sched_setaffinity(0, sizeof only, &only) == 0;
}

class ticks {
 public:
  static constexpr const char* name = "ticks";

  [[gnu::always_inline]] std::uint64_t begin() const noexcept {
    const std::uint64_t now = os::ticks();
#if defined(__x86_64__)
    asm volatile("lfence" ::: "memory");
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
    return now;
  }
  [[gnu::always_inline]] std::uint64_t end() const noexcept {
#if defined(__x86_64__)
    asm volatile("mfence; lfence" ::: "memory");
#elif defined(__aarch64__)
    asm volatile("dsb ish; isb" ::: "memory");
#endif
    return os::ticks();
  }

  // Whether a smaller number is an earlier moment on every processor.
  // A virtual machine's may differ though its kernel trusts them (seen 2026-11-23): so they are tried, too.
  static bool agree() {
    static const bool found = trusted() && tried();
    return found;
  }

 private:
  static bool trusted() {
#if defined(__x86_64__)
    std::ifstream offered("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    for (std::string word; offered >> word;) {
      if (word == "tsc") return true;
    }
    return false;
#else
    return true;
#endif
  }

  // By threads on the first processor and on each other one. Where nobody may choose: no.
  static bool tried() {
    cpu_set_t may;
    if (::sched_getaffinity(0, sizeof may, &may) != 0) return false;
    int first = -1;
    for (int processor = 0; processor != CPU_SETSIZE; ++processor) {
      if (!CPU_ISSET(processor, &may)) continue;
      if (first < 0) first = processor;
      else if (!tried_between(first, processor)) return false;
    }
    return true;
  }

  // Two threads hand each other the moment at which they ended.
  static bool tried_between(int one, int other) {
    constexpr unsigned rounds = 2000;
    ticks clock;
    atomic<unsigned> turn{0};
    std::uint64_t ended = 0;
    atomic<bool> in_order{true};
    const auto play = [&](unsigned mine, int processor) {
      if (!bind_to(processor)) in_order.store(false, order::relaxed);
      for (unsigned i = mine; i < 2 * rounds; i += 2) {
        while (turn.load(order::acquire) != i) std::this_thread::yield();  // sync: ticks-tried
        if (clock.begin() < ended) in_order.store(false, order::relaxed);
        ended = clock.end();
        turn.store(i + 1, order::release);  // sync: ticks-tried
      }
    };
    std::thread here(play, 0, one), there(play, 1, other);
    here.join();
    there.join();
    return in_order.load(order::relaxed);
  }
};

class counter {
 public:
  static constexpr const char* name = "counter";

  [[gnu::always_inline]] std::uint64_t begin() const noexcept {
    return now_.load(order::acquire);  // sync: recorded-end
  }
  [[gnu::always_inline]] std::uint64_t end() noexcept {
    return now_.fetch_add(1, order::acq_rel);  // sync: recorded-end
  }

 private:
  // now_ — ends so far. Written by every end(), read by every begin(). Order: recorded-end; additions all, so who reads
  // one acquires those before it. ABA: it only grows.
  alignas(false_sharing_range) atomic<std::uint64_t> now_{1};
};

}  // namespace polder::checker
