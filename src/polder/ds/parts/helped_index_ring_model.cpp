// helped_index_ring under the model checker: every index once, in order, and never empty for who has put before; on the slow
// path, with every thread helping, and beside threads on the fast one.
#include <polder/ds/parts/helped_index_ring.hpp>

#include "explore.hpp"
#include "ring_worlds.hpp"

namespace {

using polder::plain;

template <class Cell>
struct of_four {
  Cell cells[5];
  Cell& at(unsigned number) { return cells[number]; }
  Cell* find(unsigned number) { return number < 5 ? &cells[number] : nullptr; }
};
using ring = polder::ds::helped_index_ring<polder::model::apart, of_four>;

constexpr ring::options slow(unsigned threads) {
  return {.patience = 0, .helping_delay = 1, .most_threads = threads};
}
constexpr ring::options hasty(unsigned threads) {
  return {.patience = 1, .helping_delay = 1, .most_threads = threads};
}

template <unsigned N, ring::at_first How, ring::options Options, unsigned Threads>
struct world {
  ring r{N, How, Options};
  plain<int> owner[N];  // written by who holds the index
  world() {
    for (unsigned t = 0; t != Threads; ++t) r.admit(t + 1);
  }

  void put(unsigned self, ring::index i) {
    owner[i].set(int(self));
    r.put(i, self + 1);
  }
  ring::index get(unsigned self) {
    const ring::index i = r.get(self + 1);
    if (i == r.none()) return i;
    POLDER_MODEL_CHECK(i < N);
    owner[i].get();
    owner[i].set(int(self));
    return i;
  }
  unsigned rest() {
    unsigned seen = 0;
    for (ring::index i; (i = r.get()) != r.none();) {
      POLDER_MODEL_CHECK((seen & 1u << i) == 0);
      seen |= 1u << i;
    }
    return seen;
  }
};

// Each thread puts an index and gets one, which may be another's. As many gets have begun as puts have ended, at most, so
// none may say empty.
template <unsigned Threads, unsigned Rounds, ring::options Options>
struct handing_round : rl::test_suite<handing_round<Threads, Rounds, Options>, int(Threads)>,
                       world<Threads == 2 ? 2 : 4, ring::at_first::empty, Options, Threads> {
  void thread(unsigned self) {
    ring::index mine = self;
    for (unsigned round = 0; round != Rounds; ++round) {
      this->put(self, mine);
      mine = this->get(self);
      POLDER_MODEL_CHECK(mine < Threads);
    }
    this->put(self, mine);
  }
  void after() { POLDER_MODEL_CHECK(this->rest() == (1u << Threads) - 1); }
};

// One takes all there is while the other puts it back; none is lost.
template <ring::options Options>
struct coming_and_going : rl::test_suite<coming_and_going<Options>, 2>, world<2, ring::at_first::full, Options, 2> {
  unsigned out = 0;  // of the second thread: bits

  void thread(unsigned self) {
    for (unsigned round = 0; round != 2; ++round) {
      const ring::index i = this->get(self);
      if (i == this->r.none()) continue;
      if (self == 0) this->put(self, i);
      else out |= 1u << i;
    }
  }
  void after() {
    const unsigned inside = this->rest();
    POLDER_MODEL_CHECK((inside & out) == 0);
    POLDER_MODEL_CHECK((inside | out) == 3);
  }
};

// One puts, the others get: what each sees is in order, and all of it comes out. Gets are ahead of the puts.
template <ring::options Options, unsigned Threads>
struct awaited : rl::test_suite<awaited<Options, Threads>, int(Threads)>,
                 world<4, ring::at_first::empty, Options, Threads> {
  unsigned out[Threads] = {};

  void thread(unsigned self) {
    if (self == 0) {
      for (ring::index i = 0; i != 3; ++i) this->put(0, i);
    } else {
      int last = -1;
      for (unsigned tries = 0; tries != 2; ++tries) {
        const ring::index i = this->get(self);
        if (i == this->r.none()) continue;
        POLDER_MODEL_CHECK(int(i) > last);
        last = int(i);
        out[self] |= 1u << i;
      }
    }
  }
  void after() {
    unsigned seen = this->rest();
    for (const unsigned o : out) {
      POLDER_MODEL_CHECK((seen & o) == 0);
      seen |= o;
    }
    POLDER_MODEL_CHECK(seen == 7);
  }
};

// Entries that are occupied: the ring has room for one, and goes round under who puts.
template <ring::options Options>
struct little_room : rl::test_suite<little_room<Options>, 3>, world<1, ring::at_first::full, Options, 3> {
  void thread(unsigned self) {
    for (unsigned round = 0; round != 2; ++round) {
      if (const ring::index i = this->get(self); i != this->r.none()) this->put(self, i);
    }
  }
  void after() { POLDER_MODEL_CHECK(this->rest() == 1); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<handing_round<2, 1, slow(2)>>(
      {.title = "helped ring: two hand round", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<handing_round<2, 2, slow(2)>>({.title = "helped ring: two hand round, twice", .executions = 6'000});
  ok &= passes<handing_round<2, 2, hasty(2)>>({.title = "helped ring: hastily, twice", .executions = 6'000});
  ok &= passes<handing_round<3, 1, slow(3)>>({.title = "helped ring: three hand round", .executions = 6'000});
  ok &= passes<handing_round<3, 1, hasty(3)>>({.title = "helped ring: three, hastily", .executions = 6'000});
  ok &= passes<coming_and_going<slow(2)>>(
      {.title = "helped ring: coming and going", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<awaited<slow(2), 2>>(
      {.title = "helped ring: awaited", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<awaited<slow(3), 3>>({.title = "helped ring: awaited by two", .executions = 6'000});
  ok &= passes<awaited<hasty(3), 3>>({.title = "helped ring: awaited by two, hastily", .executions = 6'000});
  ok &= passes<little_room<slow(3)>>({.title = "helped ring: little room", .executions = 6'000});
  ok &= passes<little_room<hasty(3)>>({.title = "helped ring: little room, hastily", .executions = 6'000});
  return ok ? 0 : 1;
}
