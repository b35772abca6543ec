#pragma once
// crew — threads that allocate, free each other's blocks, resize and trim, each counting what it has done of each kind; and
// how long an operation took at most, on the clock and on the processor.
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "../probe/random.hpp"
#include "../probe/stamp.hpp"
#include "measured.hpp"

namespace polder::progress {

enum class kind { allocate, free_own, free_others, resize, large, trim, count };
inline constexpr unsigned kinds = unsigned(kind::count);
inline constexpr const char* kind_names[kinds] = {"malloc",  "free",  "free of another's",
                                                  "realloc", "large", "malloc_trim"};

inline std::int64_t nanoseconds(clockid_t clock) {
  timespec t;
  ::clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// Where many threads have few processors, most of what an operation takes by the clock is the turns of others. From now on the
// calling thread's are as short as Linux gives them from 6.12 on; before, they are as they were.
inline void take_short_turns() {
  struct {  // as in sched_setattr(2): glibc has none, and the kernel's header and glibc's exclude each other
    std::uint32_t size = sizeof *this, policy = SCHED_OTHER;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime_ns = 100'000, deadline = 0, period = 0;
  } attributes;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

// The longest so far, of all threads: a figure to print.
class longest {
 public:
  void see(std::int64_t ns) {
    std::int64_t known = ns_.load(std::memory_order_relaxed);
    while (ns > known && !ns_.compare_exchange_weak(known, ns, std::memory_order_relaxed)) {
    }
  }
  double milliseconds() const { return double(ns_.load(std::memory_order_relaxed)) * 1e-6; }

 private:
  std::atomic<std::int64_t> ns_{0};
};
struct durations {
  longest wall[kinds], cpu[kinds];
};

// What one thread has done: read by others while it works.
struct alignas(128) tally {
  std::atomic<std::uint64_t> done[kinds];
  std::atomic<std::uint64_t> interruptions;  // so that a measured time that contains one is not counted
  void add(kind k) { done[unsigned(k)].fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t of(kind k) const { return done[unsigned(k)].load(std::memory_order_relaxed); }
  std::uint64_t of_all() const {
    std::uint64_t all = 0;
    for (unsigned k = 0; k != kinds; ++k) all += of(kind(k));
    return all;
  }
};

// A place where threads leave blocks for each other.
class market {
 public:
  void* trade(std::size_t place, void* p) { return places_[place % size].exchange(p, std::memory_order_acq_rel); }
  void clear() {
    for (auto& p : places_) std::free(p.exchange(nullptr));
  }

 private:
  static constexpr std::size_t size = 512;
  std::atomic<void*> places_[size] = {};
};

// One thread's work. step() does one thing, and counts it when it is done.
class worker {
 public:
  // Bytes that it asks for at most, of one block in eight, and of a large one in 64.
  struct appetite {
    std::size_t small = 32'000, large = 40'000'000;
  };
  worker(market& m, tally& t, std::uint64_t seed, durations& took, appetite a)
      : market_(m), tally_(t), random_(seed), took_(took), appetite_(a) {}

  // Whether the thread is in an operation of the heap, as its own signal handler may ask.
  bool inside() const { return inside_; }

  void step() {
    const std::uint64_t dice = random_.below(10'000);
    if (dice < 3) of(kind::trim);
    else if (dice < 300) of(kind::large);
    else if (dice < 1000) of(kind::resize);
    else if (dice < 4000) of(kind::free_others);
    else of(own_[random_.below(slots)] != nullptr ? kind::free_own : kind::allocate);
  }

  // One operation of a kind, and what it takes to have something to do it to.
  void of(kind k) {
    void*& mine = own_[random_.below(slots)];
    const auto some = [&] {
      if (mine == nullptr) mine = make(small(), kind::allocate);
    };
    switch (k) {
      case kind::allocate:
        if (mine != nullptr) release(mine, kind::free_own);
        return some();
      case kind::free_own: return some(), release(mine, k);
      case kind::free_others:
        // Until there was one: all but the first few times it is another's. Never two have one, should the thread end here.
        do some(), mine = market_.trade(random_.next(), std::exchange(mine, nullptr));
        while (mine == nullptr);
        return release(mine, k);
      case kind::resize: return some(), resize(mine);
      case kind::large: {
        void* p = make(33'000 + random_.below(random_.below(64) == 0 ? appetite_.large : 400'000), k);
        return release(p, k);
      }
      case kind::trim: return timed(k, [] { ::malloc_trim(0); });
      case kind::count: break;
    }
  }
  void each_kind_once() {
    for (unsigned k = 0; k != kinds; ++k) of(kind(k));
  }
  // All it holds; nothing that it is just busy with, should its thread have ended.
  void free_all() {
    for (void*& p : own_)
      if (p != nullptr) release(p, kind::free_own);
  }

 private:
  static constexpr std::size_t slots = 48;

  std::size_t small() { return random_.below(random_.below(8) == 0 ? appetite_.small : 600); }

  // The figures leave out what a stop of this very thread took. To ask for the time on the processor is dear.
  template <class F>
  void timed(kind k, F f) {
    const bool with_cpu = k == kind::trim || (++operations_ & 15) == 0;
    const std::uint64_t interruptions = tally_.interruptions.load(std::memory_order_relaxed);
    const std::int64_t cpu = with_cpu ? nanoseconds(CLOCK_THREAD_CPUTIME_ID) : 0;
    const std::int64_t wall = nanoseconds(CLOCK_MONOTONIC);
    inside_ = true;
    f();
    inside_ = false;
    const std::int64_t wall_ns = nanoseconds(CLOCK_MONOTONIC) - wall;
    const std::int64_t cpu_ns = with_cpu ? nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu : 0;
    if (interruptions == tally_.interruptions.load(std::memory_order_relaxed)) {
      took_.wall[unsigned(k)].see(wall_ns);
      took_.cpu[unsigned(k)].see(cpu_ns);
    }
    tally_.add(k);
  }

  void* make(std::size_t n, kind k) {
    n += probe::min_stamped;
    void* p = nullptr;
    timed(k, [&] { p = probe::opaque(std::malloc(n)); });
    probe::expect(p != nullptr, "no memory for %zu bytes", n);
    probe::stamp(p, n, std::uint32_t(random_.next()));
    return p;
  }
  void release(void*& p, kind k) {
    probe::expect_intact(p, kind_names[unsigned(k)]);
    void* const gone = p;
    p = nullptr;
    timed(k, [&] { std::free(gone); });
  }
  void resize(void*& mine) {
    probe::expect_intact(mine, "realloc");
    const std::size_t n = probe::min_stamped + random_.below(random_.below(16) == 0 ? 200'000 : 1'000);
    void* const before = mine;
    mine = nullptr;
    void* after = nullptr;
    timed(kind::resize, [&] { after = probe::opaque(std::realloc(before, n)); });
    probe::expect(after != nullptr, "no memory to resize to %zu bytes", n);
    probe::stamp(after, n, std::uint32_t(random_.next()));
    mine = after;
  }
  market& market_;
  tally& tally_;
  probe::random random_;
  durations& took_;
  appetite appetite_;
  unsigned operations_ = 0;
  volatile bool inside_ = false;
  void* own_[slots] = {};
};

}  // namespace polder::progress
