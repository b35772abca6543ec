// index_ring under the model checker: every index once, and never empty for who has put before.
#include <polder/ds/parts/index_ring.hpp>

#include "explore.hpp"
#include "ring_worlds.hpp"

namespace {

using ring = polder::ds::index_ring<polder::model::apart>;
using polder::plain;

// Each thread puts an index and gets one, which may be another's. As many gets have begun as puts have ended, at most, so
// none may say empty.
template <unsigned Threads, unsigned Rounds>
struct handing_round : rl::test_suite<handing_round<Threads, Rounds>, int(Threads)> {
  static constexpr unsigned n = Threads == 2 ? 2 : 4;
  ring r{n, ring::at_first::empty, Threads};
  plain<int> owner[n];  // written by who holds the index

  void thread(unsigned self) {
    ring::index mine = self;
    owner[mine].set(int(self));
    for (unsigned round = 0; round != Rounds; ++round) {
      r.put(mine);
      mine = r.get();
      POLDER_MODEL_CHECK(mine < Threads);
      owner[mine].get();
      owner[mine].set(int(self));
    }
    r.put(mine);
  }
  void after() {
    unsigned seen = 0;
    for (unsigned t = 0; t != Threads; ++t) seen |= 1u << r.get();
    POLDER_MODEL_CHECK(seen == (1u << Threads) - 1);
    POLDER_MODEL_CHECK(r.get() == r.none());
  }
};

// One takes all there is while the other puts it back; in the order of its tickets, and none is lost.
struct coming_and_going : rl::test_suite<coming_and_going, 2> {
  ring r{2, ring::at_first::full, 2};
  plain<int> owner[2];
  unsigned out[2] = {};  // by each thread: bits

  void thread(unsigned self) {
    for (unsigned round = 0; round != 2; ++round) {
      const ring::index i = r.get();
      if (i == r.none()) continue;
      owner[i].set(int(self));
      if (self == 0) r.put(i);
      else out[i] = 1;
    }
  }
  void after() {
    for (ring::index i; (i = r.get()) != r.none();) {
      POLDER_MODEL_CHECK(out[i] == 0);
      out[i] = 1;
    }
    POLDER_MODEL_CHECK(out[0] == 1 && out[1] == 1);
  }
};

// More threads than indices: the misses of those that came before a put are counted after it.
struct late_misses : rl::test_suite<late_misses, 4> {
  ring r{1, ring::at_first::empty, 4};
  unsigned out[4] = {};

  void before() {
    r.put(0);
    r.get();
  }
  void thread(unsigned self) {
    if (self == 0) r.put(0);
    else out[self] = r.get() == 0;
  }
  void after() { POLDER_MODEL_CHECK(out[1] + out[2] + out[3] + (r.get() == 0) == 1); }
};

// Each puts into one ring and looks into the other: not both find nothing. A ring's gets count misses, or its last put has
// ended them.
template <unsigned Misses>
struct crosswise : rl::test_suite<crosswise<Misses>, 2> {
  ring r[2] = {{2, ring::at_first::empty, 2}, {2, ring::at_first::empty, 2}};
  bool found[2] = {};

  void before() {
    for (ring& of : r) {
      of.put(0);
      for (unsigned i = 0; i != 1 + Misses; ++i) of.get();
    }
  }
  void thread(unsigned self) {
    r[self].put(1);
    found[self] = r[1 - self].get() == 1;
  }
  void after() {
    POLDER_MODEL_CHECK(found[0] || found[1]);
    for (unsigned t = 0; t != 2; ++t) POLDER_MODEL_CHECK((r[1 - t].get() == 1) == !found[t]);
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<handing_round<2, 1>>(
      {.title = "index_ring: two hand round", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<handing_round<2, 2>>({.title = "index_ring: two hand round, twice", .executions = 6'000});
  ok &= passes<handing_round<3, 1>>({.title = "index_ring: three hand round", .executions = 6'000});
  ok &= passes<coming_and_going>({.title = "index_ring: coming and going", .executions = 6'000});
  ok &= passes<late_misses>({.title = "index_ring: late misses", .executions = 20'000});
  ok &= passes<crosswise<0>>({.title = "index_ring: crosswise", .executions = 6'000});
  ok &= passes<crosswise<1>>({.title = "index_ring: crosswise, after a miss", .executions = 6'000});
  return ok ? 0 : 1;
}
