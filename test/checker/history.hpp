#pragma once
// history — what threads asked of a queue, stack, deque or pool, and when: an array of events for each thread.
//
// A recorder is one thread's view of a structure: it does what it is asked, between two readings of a clock
// (clock.hpp), and writes the event into an array of its own whose pages are there already. Values are of the caller's
// making, and no two puts have the same one: value_of(thread, n). A put that was refused, because the structure was
// full, is no event.
#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "checker/clock.hpp"

namespace polder::checker {

enum class call : std::uint64_t { put, get, empty };  // empty: a get that found nothing
enum class side : std::uint64_t { left, right };      // of a deque

struct event {
  call what : 2;
  side at : 1;
  std::uint64_t value : 61;  // 0 of empty
  std::uint64_t from, to;

  constexpr event(call c, std::uint64_t v, side s = side::left, std::uint64_t f = 0, std::uint64_t t = 0) noexcept
      : what(c), at(s), value(v & (~std::uint64_t{0} >> 3)), from(f), to(t) {}
};
static_assert(sizeof(event) == 24);

using history = std::vector<std::vector<event>>;  // by thread

constexpr std::uint64_t value_of(std::uint64_t thread, std::uint64_t n) { return (thread + 1) << 40 | n; }

// One thread's part. C has put(T), which says whether it did, and get(), an optional T; T is made of a number and is
// one.
template <class C, class Clock = ticks>
class recorded {
  using element = typename decltype(std::declval<C&>().get())::value_type;

 public:
  recorded(C& of, Clock& clock, std::size_t operations) : of_(of), clock_(clock) {
    done_.resize(operations, event(call::empty, 0));  // touches the pages
    done_.clear();
  }

  bool put(std::uint64_t value) {
    return putting(value, side::left, [&] { return of_.put(element(value)); });
  }
  std::optional<element> get() {
    return getting(side::left, [&] { return of_.get(); });
  }

  bool put(side at, std::uint64_t value)
    requires requires(C& c, element e) { c.put_left(std::move(e)), c.put_right(std::move(e)); }
  {
    return putting(value, at,
                   [&] { return at == side::left ? of_.put_left(element(value)) : of_.put_right(element(value)); });
  }
  std::optional<element> get(side at)
    requires requires(C& c) { c.get_left(), c.get_right(); }
  {
    return getting(at, [&] { return at == side::left ? of_.get_left() : of_.get_right(); });
  }

  std::vector<event> take() { return std::move(done_); }

 private:
  template <class F>
  [[gnu::always_inline]] bool putting(std::uint64_t value, side at, F put) {
    const std::uint64_t from = clock_.begin();
    const bool did = put();
    const std::uint64_t to = clock_.end();
    if (did) done_.emplace_back(call::put, value, at, from, to);
    return did;
  }
  template <class F>
  [[gnu::always_inline]] std::optional<element> getting(side at, F get) {
    const std::uint64_t from = clock_.begin();
    std::optional<element> found = get();
    const std::uint64_t to = clock_.end();
    if (found) done_.emplace_back(call::get, std::uint64_t(*found), at, from, to);
    else done_.emplace_back(call::empty, 0, at, from, to);
    return found;
  }

  C& of_;
  Clock& clock_;
  std::vector<event> done_;
};

}  // namespace polder::checker
