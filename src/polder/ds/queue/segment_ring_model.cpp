// segment_ring under the model checker: what was put comes out once, of one thread and with k 1 in order, through every turn of
// the ring; full and empty are true.
#include <polder/ds/queue/segment_ring.hpp>

#include <cstdlib>

#include "explore.hpp"

namespace {

using polder::model::search;

struct malloc_memory {
  static void* operator new(std::size_t bytes) { return std::malloc(bytes); }
  static void operator delete(void* p) noexcept { std::free(p); }
};

// Elements are 8 * who put it + how many-th of its own it is, from 1.
template <unsigned K, unsigned Threads>
struct world {
  polder::ds::segment_ring<malloc_memory> ring{K, 2};
  polder::plain<int> written[Threads][8];
  int inside[Threads][8] = {}, out[Threads][8] = {};

  bool put(unsigned self, unsigned n) {
    written[self][n].set(int(n));
    const bool in = ring.put(self * 8 + n, self << 31);
    inside[self][n] += in;
    return in;
  }
  // 0: nothing.
  unsigned get(unsigned self) {
    const std::optional<std::uint64_t> e = ring.get(self << 31);
    if (!e) return 0;
    const unsigned by = unsigned(*e) / 8, n = unsigned(*e) % 8;
    POLDER_MODEL_CHECK(by < Threads && written[by][n].get() == int(n));
    ++out[by][n];
    return n;
  }
  // Before other threads are there.
  void turns(unsigned many) {
    for (unsigned i = 0; i != many; ++i) POLDER_MODEL_CHECK(put(0, 7) && get(0) == 7);
  }
  void comes_out() {
    while (get(0) != 0) {
    }
    for (unsigned t = 0; t != Threads; ++t) {
      for (unsigned n = 0; n != 8; ++n) POLDER_MODEL_CHECK(inside[t][n] == out[t][n]);
    }
  }
};

// Both put and get: who has put finds something, since each takes once; and there is room, since two are inside at most.
template <unsigned K, unsigned Threads>
struct both : rl::test_suite<both<K, Threads>, int(Threads)>, world<K, Threads> {
  void before() { this->turns(2 * K - 1); }
  void thread(unsigned self) {
    for (unsigned n = 1; n != 3; ++n) {
      if (this->put(self, n)) POLDER_MODEL_CHECK(this->get(self) != 0);
      else POLDER_MODEL_CHECK(K == 1 || Threads != 2);
    }
  }
  void after() { this->comes_out(); }
};

// One puts through the ring and around, the other gets: in order if k is 1, else no more than one is overtaken by one.
template <unsigned K>
struct around : rl::test_suite<around<K>, 2>, world<K, 2> {
  void thread(unsigned self) {
    if (self == 0) {
      unsigned n = 1;
      for (unsigned tries = 0; tries != 6 && n != 6; ++tries) n += this->put(0, n);
    } else {
      unsigned last = 0;
      for (int i = 0; i != 4; ++i) {
        const unsigned n = this->get(1);
        if (n == 0) continue;
        POLDER_MODEL_CHECK(K != 1 || n == last + 1);
        POLDER_MODEL_CHECK(n + K > last);
        last = n;
      }
    }
  }
  void after() { this->comes_out(); }
};

// Never empty: one leaves an element behind before it takes another.
template <unsigned K>
struct never_empty : rl::test_suite<never_empty<K>, 2>, world<K, 2> {
  void before() {
    this->turns(K - 1);
    this->put(0, 1);
  }
  void thread(unsigned self) {
    if (self == 0) {
      POLDER_MODEL_CHECK(this->put(0, 2) && this->get(0) != 0);
    } else {
      POLDER_MODEL_CHECK(this->get(1) != 0);
    }
  }
  void after() { this->comes_out(); }
};

// Full only when all segments are in use: with two inside of two segments of two there is room.
struct never_full : rl::test_suite<never_full, 2>, world<2, 2> {
  void before() {
    this->turns(1);
    this->put(0, 1);
  }
  void thread(unsigned self) {
    POLDER_MODEL_CHECK(this->put(self, 2));
    this->get(self);
  }
  void after() { this->comes_out(); }
};

// One makes room before it uses room up: two are inside of two segments of two, or one, and the last slot of tail's segment is
// not seen used without the first segment's being seen over.
struct room_first : rl::test_suite<room_first, 2>, world<2, 2> {
  void before() {
    turns(1);
    put(0, 1);
    put(0, 2);
  }
  void thread(unsigned self) {
    if (self == 0) POLDER_MODEL_CHECK(get(0) == 1);
    POLDER_MODEL_CHECK(put(self, 3));
  }
  void after() { comes_out(); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<both<1, 2>>(
      {.title = "ring of segments, k 1: both", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<both<2, 2>>(
      {.title = "ring of segments, k 2: both", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<both<1, 3>>({.title = "ring of segments, k 1: three", .executions = 20'000});
  ok &= passes<both<2, 3>>({.title = "ring of segments, k 2: three", .executions = 20'000});
  ok &= passes<around<1>>(
      {.title = "ring of segments, k 1: around", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<around<1>>({.title = "ring of segments, k 1: around", .executions = 20'000});
  ok &= passes<around<2>>({.title = "ring of segments, k 2: around", .executions = 20'000});
  ok &= passes<never_empty<1>>(
      {.title = "ring of segments, k 1: never empty", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<never_empty<2>>(
      {.title = "ring of segments, k 2: never empty", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<never_full>(
      {.title = "ring of segments, k 2: never full", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<room_first>(
      {.title = "ring of segments, k 2: room first", .how = search::bounded, .floor = 100, .switches = 3});
  return ok ? 0 : 1;
}
