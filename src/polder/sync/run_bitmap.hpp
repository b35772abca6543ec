#pragma once
// run_bitmap — sixty-four places in one word, taken and given back in runs.
//
//   paper      none; the search for a run is the folding trick of Hacker's Delight, sec. 6-2
//   progress   lock-free: a taker retries only when another thread succeeded; give is wait-free
//   in malloc  yes: allocates nothing, locks nothing, async-signal-safe
//
// States of one place. An arrow is one successful CAS or fetch_and over a whole run; in brackets what it brings.
//
//              try_take, try_take_at [the run is mine]
//          ┌───────────────────────────────┐
//          │                               ▼
//        open                            taken
//          ▲                               │
//          └───────────────────────────────┘
//              give [the run is no longer mine]; neighbours coalesce, because they are bits
//
// Invariant: a place has at most one holder, and its bit is set exactly while it has one.
#include <bit>
#include <cstdint>

#include <polder/base/bits.hpp>
#include <polder/base/check.hpp>
#include <polder/sync/atomic.hpp>

namespace polder {

// Bit i of the result: bits i … i+n-1 of `word` are all set. 1 <= n <= 64. At most six steps: each folds the runs
// found so far onto themselves, and a shift brings in zeros, so no run reaches past bit 63.
constexpr std::uint64_t starts_of_runs(std::uint64_t word, unsigned n) {
  for (unsigned have = 1; have < n;) {
    const unsigned step = have < n - have ? have : n - have;
    word &= word >> step;
    have += step;
  }
  return word;
}

class run_bitmap {
 public:
  static constexpr unsigned places = 64;
  static constexpr unsigned none = places;

  run_bitmap() noexcept = default;  // all open, all-zero; constexpr in the native world
  run_bitmap(const run_bitmap&) = delete;
  run_bitmap& operator=(const run_bitmap&) = delete;

  // Position of the lowest run of n clear bits, or none.
  static constexpr unsigned first_fit(std::uint64_t taken, unsigned n) {
    return unsigned(std::countr_zero(starts_of_runs(~taken, n)));
  }

  // Length of the longest run of clear bits.
  static constexpr unsigned longest_open(std::uint64_t taken) {
    unsigned length = 0;
    for (std::uint64_t open = ~taken; open != 0; open &= open >> 1) ++length;
    return length;
  }

  // Takes the lowest run of n open places: its position, or none. 1 <= n <= 64.
  [[nodiscard]] unsigned try_take(unsigned n) noexcept {
    POLDER_CHECK(1, n >= 1 && n <= places);
    std::uint64_t now = taken_.load(order::relaxed);
    for (;;) {
      const unsigned at = first_fit(now, n);
      if (at == none) return none;
      if (taken_.cas(now, now | ones(at, n), order::acquire, order::relaxed)) return at;  // sync: run-give
    }
  }

  // Takes exactly places at … at+n-1; false when one of them is taken.
  [[nodiscard]] bool try_take_at(unsigned at, unsigned n) noexcept {
    POLDER_CHECK(1, n >= 1 && at + n <= places);
    const std::uint64_t run = ones(at, n);
    std::uint64_t now = taken_.load(order::relaxed);
    while ((now & run) == 0) {
      if (taken_.cas(now, now | run, order::acquire, order::relaxed)) return true;  // sync: run-give
    }
    return false;
  }

  // Gives places at … at+n-1 back. False: not all of them were taken, so the caller did not hold them, and what
  // others hold may have been given away: the caller reports and stops.
  [[nodiscard]] bool give(unsigned at, unsigned n) noexcept {
    POLDER_CHECK(1, n >= 1 && at + n <= places);
    const std::uint64_t run = ones(at, n);
    return (taken_.fetch_and(~run, order::release) & run) == run;  // sync: run-give
  }

  // A hint: it may be out of date before it is returned.
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_.load(order::relaxed); }

 private:
  // taken_ — one bit a place.
  //   written by  any thread, by RMW only
  //   read by     any thread
  //   order       run-give: a giver's release publishes what it did to the run (its contents, its pages, its table
  //                 entries); the taker's acquire comes after it. All writes are RMWs, so a taker synchronizes with
  //                 every earlier giver, whichever run they gave: one release sequence.
  //   ABA         harmless: the word is the whole state, nothing is read through it
  atomic<std::uint64_t> taken_;
};

}  // namespace polder
