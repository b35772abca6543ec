#pragma once
// clock — what a time-stamped structure orders its elements by: stamps that need not order all of them.
//
//   paper      Dodds, Haas and Kirsch, "A scalable, correct time-stamped stack", POPL 2015, sec. 5
//
// A clock has
//   time               its stamps: point or span
//   stamp(cells, beat) a stamp for what the calling thread has just linked. What was stamped before it began is earlier
//   now(cells)         a number to hold stamps against: when a get began
//   beat               what it keeps of each thread, beside the buffer; cells.each() shows all of them
//
// Against a number from now():
//   over_after(now)    the put may have ended after now() was called; it did not if this is false
//   begun_by(now)      the put drew its stamp before now() returned. It did not if a scan behind now() missed an element of
//                      an earlier put: one that was not linked yet, or had no stamp yet
// The last is where a clock orders memory: between link and stamp on one side, now and scan on the other. Neither takes
// equality for earlier: a put may read what now() read, behind it.
//
// Here are the clocks that count; hardware_clock.hpp has those that read the processor's counter.
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include <polder/sync/atomic.hpp>

namespace polder::ds {

struct point {
  std::uint64_t at;  // from 1
  bool begun_by(std::uint64_t now) const noexcept { return at < now; }
  bool over_after(std::uint64_t now) const noexcept { return at >= now; }
  friend bool earlier(point a, point b) noexcept { return a.at < b.at; }
};

// From `from` to before `to`; overlapping ones have no order.
struct span {
  std::uint64_t from, to;  // 1 <= from < to
  bool begun_by(std::uint64_t now) const noexcept { return from < now; }
  bool over_after(std::uint64_t now) const noexcept { return to > now; }
  friend bool earlier(span a, span b) noexcept { return a.to <= b.from; }
};

// One counter that each stamp moves on: a total order.
class atomic_clock {
 public:
  static constexpr std::string_view name = "atomic", title = "a counter", parameters = {};
  using time = point;
  struct beat {};

  template <class Cells>
  time stamp(const Cells&, beat&) noexcept {
    return {next_.fetch_add(1, order::release)};  // sync: clock-drawn
  }
  template <class Cells>
  std::uint64_t now(const Cells&) const noexcept {
    return next_.load(order::acquire);  // sync: clock-drawn
  }

 private:
  // next_ — the stamp that is drawn next. Written by who stamps, read by all.
  //   order  clock-drawn: all writes are read-modify-writes, so who reads a number sees what was linked before any
  //          smaller one was drawn
  //   ABA    only grows
  atomic<std::uint64_t> next_{1};
};

// One counter that a stamp moves on only if nobody else does: stamps that are drawn at once overlap.
class cas_clock {
 public:
  static constexpr std::string_view name = "cas", title = "a counter moved by CAS", parameters = "delay";
  using time = span;
  struct beat {};

  static constexpr std::uint64_t longest = 1'000'000'000;

  // How often a stamp looks at the counter before it moves it on. Throws std::invalid_argument.
  explicit cas_clock(std::uint64_t delay = 0) : delay_(delay) {
    if (delay > longest) throw std::invalid_argument("the delay of a CAS clock is at most 1'000'000'000 looks");
  }

  template <class Cells>
  time stamp(const Cells&, beat&) noexcept {
    fence(order::seq_cst);  // sync: linked-or-late: either the scan sees the link, or these looks see its number
    const std::uint64_t from = next_.load(order::relaxed);
    for (std::uint64_t looks = 0; looks != delay_; ++looks) {
      if (const std::uint64_t now = next_.load(order::relaxed); now != from) return {from, now};
    }
    std::uint64_t to = from;
    if (next_.cas(to, from + 1, order::relaxed, order::relaxed)) ++to;
    return {from, to};
  }
  template <class Cells>
  std::uint64_t now(const Cells&) const noexcept {
    const std::uint64_t n = next_.load(order::relaxed);
    fence(order::seq_cst);  // sync: linked-or-late
    return n;
  }

 private:
  const std::uint64_t delay_;
  // next_ — written by who stamps, read by all; relaxed, the fences order. ABA: only grows.
  atomic<std::uint64_t> next_{1};
};

// Each thread has a number of its own (Lamport): a stamp is more than all of them. Nothing that all threads write.
class stutter_clock {
 public:
  static constexpr std::string_view name = "stutter", title = "each thread's own counter", parameters = {};
  using time = point;
  // Written by its thread; read by all; relaxed, the fences order. ABA: only grows.
  using beat = atomic<std::uint64_t>;

  template <class Cells>
  time stamp(const Cells& cells, beat& mine) noexcept {
    fence(order::seq_cst);  // sync: linked-or-late: as above
    const std::uint64_t at = latest(cells) + 1;
    mine.store(at, order::relaxed);
    return {at};
  }
  template <class Cells>
  std::uint64_t now(const Cells& cells) const noexcept {
    const std::uint64_t n = latest(cells) + 1;
    fence(order::seq_cst);  // sync: linked-or-late
    return n;
  }

 private:
  template <class Cells>
  static std::uint64_t latest(const Cells& cells) noexcept {
    std::uint64_t most = 0;
    cells.each([&](const auto& cell) {
      const std::uint64_t at = cell.beat.load(order::relaxed);
      if (at > most) most = at;
      return false;
    });
    return most;
  }
};

}  // namespace polder::ds
