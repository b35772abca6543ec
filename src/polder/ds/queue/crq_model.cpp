// crq under the model checker: what was put comes out once, in order; empty is true; closed stays so.
#include <polder/ds/queue/crq.hpp>

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::plain;

struct room {
  static void* operator new(std::size_t bytes) { return std::malloc(bytes); }
  static void operator delete(void* p) noexcept { std::free(p); }
};

// An element is a box's number; what lies in a box is written before it is put, and read when it came out.
template <unsigned Threads, std::size_t Size>
struct ring {
  using crq = polder::ds::crq<room>;
  static constexpr unsigned boxes = 10;

  crq tickets{typename crq::ring(Size)};
  plain<unsigned> written[boxes];
  unsigned inside[boxes] = {}, out[boxes] = {};

  bool put(unsigned n) {
    written[n].set(n + 100);
    inside[n] = tickets.put(n);
    return inside[n] != 0;
  }
  std::optional<unsigned> take() {
    const std::optional<std::uint64_t> e = tickets.take();
    if (!e) return std::nullopt;
    POLDER_MODEL_CHECK(*e < boxes);
    POLDER_MODEL_CHECK(written[*e].get() == *e + 100);
    ++out[*e];
    return unsigned(*e);
  }
  void comes_out() {
    while (take()) {
    }
    for (unsigned n = 0; n != boxes; ++n) POLDER_MODEL_CHECK(out[n] == inside[n]);
  }
};

// One puts, one takes: in order, round the ring.
struct pair : rl::test_suite<pair, 2>, ring<2, 2> {
  void thread(unsigned self) {
    if (self == 0) {
      for (unsigned n = 0; n != 3; ++n) put(n);
    } else {
      std::optional<unsigned> last;
      for (int i = 0; i != 3; ++i) {
        const std::optional<unsigned> n = take();
        if (n && last) POLDER_MODEL_CHECK(*last < *n);
        if (n) last = n;
      }
    }
  }
  void after() { comes_out(); }
};

// Both put and take: who has put finds something, since each takes once.
template <unsigned Threads, std::size_t Size>
struct both : rl::test_suite<both<Threads, Size>, Threads>, ring<Threads, Size> {
  void thread(unsigned self) {
    for (unsigned n = self; n < 2 * Threads; n += Threads) {
      if (this->put(n)) POLDER_MODEL_CHECK(this->take());
    }
  }
  void after() { this->comes_out(); }
};

// Two take while one puts: unsafe cells, and tickets drawn in vain.
struct chased : rl::test_suite<chased, 3>, ring<3, 2> {
  void before() { put(0); }
  void thread(unsigned self) {
    if (self == 0) {
      put(1);
      put(2);
    } else {
      take();
      take();
    }
  }
  void after() { comes_out(); }
};

// A taker is late at its cell, the next lap's comes before it and marks the cell for its putter. In order besides.
struct marked : rl::test_suite<marked, 3>, ring<3, 2> {
  void before() {
    put(0);
    put(1);
  }
  void thread(unsigned self) {
    if (self == 0) {
      take();
    } else if (self == 1) {
      const std::optional<unsigned> first = take(), second = take();
      if (first && second) POLDER_MODEL_CHECK(*first < *second);
    } else {
      put(2);
    }
  }
  void after() { comes_out(); }
};

// Never empty: one leaves an element behind before it takes another. Who then comes must find one.
struct never_empty : rl::test_suite<never_empty, 2>, ring<2, 2> {
  void before() { put(0); }
  void thread(unsigned self) {
    if (self == 0) {
      if (put(1)) take();
    } else {
      POLDER_MODEL_CHECK(take() || tickets.is_closed());
    }
  }
  void after() { comes_out(); }
};

// As lcrq leaves a ring: once it was seen closed and then empty, nothing is in it, but what its taker is on its way to.
struct left_behind : rl::test_suite<left_behind, 3>, ring<3, 2> {
  void thread(unsigned self) {
    if (self == 2) {
      take();
      if (!tickets.is_closed()) return;
      polder::fence(order::acquire);  // lcrq sees it closed by what was linked afterwards
      while (take()) {
      }
      gone = true;
    } else {
      put(self);
      put(self + 2);
    }
  }
  void after() {
    if (gone) POLDER_MODEL_CHECK(!take());
    comes_out();
  }
  bool gone = false;
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<pair>({.title = "ring: one puts, one takes", .how = search::bounded, .floor = 100, .switches = 2});
  ok &=
      passes<both<2, 2>>({.title = "ring: both put and take", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<both<2, 2>>({.title = "ring: both put and take", .executions = 20'000});
  ok &= passes<both<2, 1>>(
      {.title = "ring of one: both put and take", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<both<3, 2>>({.title = "ring: three put and take", .executions = 20'000});
  ok &= passes<chased>({.title = "ring: two take", .executions = 30'000});
  ok &= passes<marked>({.title = "ring: a late taker", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<never_empty>({.title = "ring: never empty", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<left_behind>({.title = "ring: left when closed and empty", .executions = 30'000});
  return ok ? 0 : 1;
}
