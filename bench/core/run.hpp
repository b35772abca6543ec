#pragma once
// run — one execution of one workload: its threads, its measured phase, its checks, its line of JSON.
//
//   prepare (harness memory, random tables) -> measure(body): n workers cross a barrier together, each runs `body`,
//   all meet again -> finish(): the counts must balance, the line is printed.
//
// A check that fails prints the line with "ok":false and ends the process at once with status 1: behind a heap that has
// just handed out a live block, nothing that would still be executed means anything. A fatal signal prints it too, and
// then takes its usual course, as one does that comes when the line is there.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "core/heap_calls.hpp"
#include "core/mapped_array.hpp"
#include "core/measure.hpp"
#include "core/memory_line.hpp"
#include "core/random.hpp"
#include "core/settings.hpp"
#include "core/stamp.hpp"

namespace polder::bench {

// Keeps the compiler from joining a malloc with its free and dropping both.
inline void* opaque(void* p) {
  asm volatile("" : "+r"(p) : : "memory");
  return p;
}

// A spinning thread on a machine with fewer cores than threads must let the others run.
class patience {
 public:
  void wait();
  void reset() { spins_ = 0; }

 private:
  unsigned spins_ = 0;
};

class run;
struct worker;

// A block that a thread keeps from before its work till after it: a heap that hands it out a second time, or that writes
// beyond a block, is found even by threads that hold one block at a time.
class guard_block {
 public:
  explicit guard_block(worker& w);
  void check_and_free(worker& w);

 private:
  static constexpr std::size_t size = 1000;

  void* block_;
  std::uint64_t key_;
};

// What one thread has and counts; plain fields, its own lines. Where a workload passes its work on to a new thread
// (larson), the worker is passed on with it.
struct alignas(128) worker {
  run* of = nullptr;
  unsigned id = 0;
  random numbers;
  std::uint64_t salt = 0;    // of this worker's block keys
  std::uint64_t serial = 0;  // of the next block
  std::uint64_t operations = 0;
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t remote_frees = 0;
  std::int64_t live = 0;  // bytes it allocated less those it freed; only their sum over the workers means anything
  std::atomic<std::int64_t> live_told{0};  // `live` of a moment ago, for whoever looks; kept up only where one does
  std::int64_t allocator_ns = 0;           // where a workload times its calls apart
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;  // when its body is left, unless that stopped the clock before
  std::int64_t deadline_ns = 0;

  // The calling thread works for this worker from here on: for workloads that start threads of their own.
  void take_over();
  // Whoever looks sees all that it counted so far; for a thread that makes no call of the heap for long.
  void tell_live() { live_told.store(live, std::memory_order_relaxed); }
  // What the body still does is not timed.
  void stop_clock() { end_ns = now_ns(); }

  // A block was allocated, or freed, by a call of the workload's own.
  void took(std::size_t size) {
    ++allocations;
    live += static_cast<std::int64_t>(size);
  }
  void gave(std::size_t size) {
    ++frees;
    live -= static_cast<std::int64_t>(size);
  }

  std::uint64_t next_key() { return block_key(salt, serial++); }

  // malloc, checked (not null, aligned) and stamped.
  void* allocate(std::size_t size, std::uint64_t key);
  // The stamps are checked, then free.
  void release(void* block, std::size_t size, std::uint64_t key);

  // The same, in steps, for workloads that do more between.
  void* checked(void* block, std::size_t size);
  void check_stamp(const void* block, std::size_t size, std::uint64_t key);
};

class run {
 public:
  run(const settings& with, std::string_view preset, unsigned threads, std::uint64_t seed, bool in_main);

  const settings with;
  const std::string_view preset;
  const unsigned threads;
  const std::uint64_t seed;
  std::string_view timeline;  // file to record into, for workloads that do; empty: none
  std::string_view picture;   // the same, to paint into
  const bool in_main;         // worker 0 is the main thread: with one thread, a process that never had a second

  // Runs body(worker&) in every worker, together.
  template <class Body>
  void measure(Body body) {
    measure_with([](void* b, worker& w) { (*static_cast<Body*>(b))(w); }, &body);
  }

  // Counts balanced? Prints the line; the exit status.
  int finish();

  // Looks at the live bytes of all workers while they work.
  void watch_live();
  // A figure of this workload alone, for the line: counts {name: value}. By one thread at a time.
  void tell(std::string_view name, double value);
  std::int64_t base_rss() const { return base_rss_kb_ * 1024; }
  // Of all workers. While nobody works, as between two meetings.
  std::int64_t live() const;

  // Workers for threads that the workload starts itself; they are counted with the others.
  void employ(unsigned count);
  worker& employed(unsigned number) { return (*employed_)[number]; }

  // In a child after fork: a failed check is told to the parent, by these words and exit status 1; the parent fails.
  // One that hangs ends by SIGALRM after `seconds`, and each at once with the thread that forked it.
  void become_child(unsigned seconds);
  const char* words_of_children() const { return &words_[0]; }

  // For what a workload has to do alone, before its measured phase; counted, not timed.
  worker& setup() { return workers_[threads]; }
  // Whether one thread works for both: the setup is the main thread's, and the first worker may be.
  bool same_thread(unsigned a, unsigned b) const {
    return a == b || (in_main && std::min(a, b) == 0 && std::max(a, b) == threads);
  }

  // Parameters that do not fit together: bad input, so status 2 and no line.
  [[noreturn]] void reject(const char* why) const;

  [[noreturn]] [[gnu::format(printf, 2, 3)]] void fail(const char* format, ...);

 private:
  using body_function = void (*)(void*, worker&);
  void measure_with(body_function function, void* body);
  void work(worker& w);
  // Before all workers begin, and when all are done.
  void begin_phase();
  void end_phase();
  static void* enter(void* w);
  static void on_signal(int signal);
  int print(bool ok, std::string_view why);  // the exit status

  void wait_and_look();
  void prepare(worker& w, unsigned id);
  template <class Visit>
  void for_each_worker(Visit visit) const;

  struct figure {
    std::string_view name;
    double value = 0;
  };

  static constexpr std::size_t most_words = 256;

  std::optional<mapped_array<worker>> employed_;
  shared_array<char> words_{most_words};  // of children after fork
  const pid_t process_ = getpid();        // children after fork are others
  mapped_array<worker> workers_;          // the last one is for the setup
  body_function function_ = nullptr;
  void* body_ = nullptr;
  pthread_barrier_t ready_, go_, done_, leave_;
  usage before_, after_;
  std::int64_t started_ns_ = 0;
  std::int64_t began_ns_ = 0;  // the phase
  std::int64_t base_rss_kb_ = 0;
  std::int64_t peak_rss_kb_ = 0;
  std::optional<memory_line> memory_;
  std::atomic<unsigned> working_{0};
  figure figures_[64];
  unsigned figure_count_ = 0;
  std::atomic<bool> printed_{false};
};

inline void* worker::checked(void* block, std::size_t size) {
  if (block == nullptr) [[unlikely]]
    of->fail("malloc(%zu) returned a null pointer, errno %d", size, errno);
  const std::uintptr_t alignment = size >= 16 ? 16 : 8;  // C asks only for what fits into the block
  if (size >= 8 && (reinterpret_cast<std::uintptr_t>(block) & (alignment - 1)) != 0) [[unlikely]] {
    of->fail("block %p of %zu bytes is not aligned", block, size);
  }
  return block;
}

inline void worker::check_stamp(const void* block, std::size_t size, std::uint64_t key) {
  if (!stamped(block, size, key)) [[unlikely]] {
    of->fail("block %p of %zu bytes was overwritten while in use: its stamp is not the one it got", block, size);
  }
}

inline void* worker::allocate(std::size_t size, std::uint64_t key) {
  void* block = checked(opaque(heap.malloc(size)), size);
  stamp(block, size, key);
  took(size);
  return block;
}

inline void worker::release(void* block, std::size_t size, std::uint64_t key) {
  check_stamp(block, size, key);
  heap.free(block);
  gave(size);
}

}  // namespace polder::bench
