#pragma once
// timeline — what each thread did when: intervals and points, kept in memory and written into one file at the end.
//
//   timeline::start({.file = "run.timeline"});
//   { timeline::span s{timeline::kind::batch_free, epoch};  …  s.count(objects); }       // an interval
//   timeline::mark(timeline::kind::epoch_advance, epoch);                                // a point in time
//   timeline::stop();                                                                    // or the end of the process
//
//   paper      Kim 2023, ch. 3 (docs/papers.md, T): timeline graphs, from 100,000 events a thread kept in memory
//   progress   recording is wait-free after a thread's first event, which maps its buffer
//   in malloc  yes; in signal  yes: an event of a handler that interrupted a recording is counted as lost
//   cost       off: one load and a branch. On: a tick counter at each end and one store of 32 bytes
//
// A thread writes into a buffer of its own, which stays when the thread ends. One that is full keeps what it has: the
// events after that are counted, and their time summed up by kind, so that shares of time stay true. The same holds for
// intervals shorter than `at_least_ns`. So
//
//   invariant  events seen by a thread = kept + short + lost
//
// The recorder is the process's and not a heap's, so its one word and the list of buffers are the mutable globals below
// malloc/ (another is sync/atomic.hpp's fence_word): every layer asks the same `on()`, and who asks may have no heap.
// A preloaded heap and a program each have their own recorder and write a file each; the clock is the same.
//
// A child of fork begins with nothing and, if it records anything, writes FILE.PID. So does a process that finds FILE being
// recorded by another that is alive.
#include <cstdint>
#include <string_view>

#include <polder/os/ticks.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::os::timeline {

// In the file they have names (timeline_format.hpp), so that readers need not know this list.
enum class kind : std::uint8_t {
  batch_free,     // a bag is freed. label: epoch; count: objects
  single_free,    // one object is freed. label: epoch
  epoch_advance,  // point: the global epoch was changed. label: the new one
  token_pass,     // point: the token came. label: how often it did
  bag_rotate,     // a bag is closed and the next begun. label: epoch; count: objects in it
  refill,         // malloc's slow way to a block. label: size class
  post,           // blocks leave for their owner. label: its LAB; count: bytes
  drain,          // blocks that others left are taken in. label: the LAB; count: bytes
  span_get,       // memory from the pool. count: bytes
  span_put,       // memory into the pool. count: bytes
  map,            // address space from the system, or made usable. count: bytes
  unmap,          // address space to the system. count: bytes
  advise,         // pages from or to the system. count: bytes
  operation,      // one operation of a data structure. label, count: the caller's
  unreclaimed,    // gauge: objects that the thread retired and did not free. label: epoch; count: objects
};
inline constexpr unsigned kinds = 15;

struct options {
  std::string_view file;                    // at most longest_file letters; taken from the folder of start()
  std::uint32_t events_a_thread = 100'000;  // 32 bytes each, charged when touched
  std::uint64_t at_least_ns = 0;            // shorter intervals are only counted; not for batch_free and bag_rotate
};
inline constexpr std::size_t longest_file = 400;

// recording — whether events are kept. Hidden: one load relative to the program counter.
//   written by  start, stop, a child of fork
//   read by     everybody
//   order       relaxed: what is recorded goes by the session (linux/timeline.cpp)
[[gnu::visibility("hidden")]] extern constinit atomic<bool> recording;

[[gnu::always_inline]] inline bool on() noexcept { return recording.load(order::relaxed); }

// Where the calling thread's own variables lie.
const void* own_variables() noexcept;

// Begins. False: it was on already, or nothing can be written there, which one line on standard error says.
bool start(const options& o) noexcept;

// Ends, and writes the file. False: it was not on, or the file could not be written, which one line says. The end of
// the process does this by itself, and so does nothing where it was done.
bool stop() noexcept;

// What start and stop cannot be asked for: an event with both its ends.
void record(kind k, std::uint64_t start, std::uint64_t end, std::uint32_t label, std::uint64_t count) noexcept;

inline void mark(kind k, std::uint32_t label = 0, std::uint64_t count = 0) noexcept {
  if (!on()) [[likely]]
    return;
  const std::uint64_t now = ticks();
  record(k, now, now, label, count);
}

// From here to the end of the block.
class [[nodiscard]] span {
 public:
  [[gnu::always_inline]] explicit span(kind k, std::uint32_t label = 0, std::uint64_t count = 0) noexcept
      : start_(on() ? ticks() : 0), count_(count), label_(label), kind_(k) {}
  [[gnu::always_inline]] ~span() {
    if (start_ != 0) [[unlikely]]
      record(kind_, start_, ticks(), label_, count_);
  }
  span(const span&) = delete;
  span& operator=(const span&) = delete;

  void count(std::uint64_t n) noexcept { count_ = n; }
  void label(std::uint32_t n) noexcept { label_ = n; }

 private:
  const std::uint64_t start_;  // 0: off
  std::uint64_t count_;
  std::uint32_t label_;
  const kind kind_;
};

}  // namespace polder::os::timeline
