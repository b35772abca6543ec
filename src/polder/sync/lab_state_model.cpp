// gate under the model checker: private data have one user at a time, every block posted is drained exactly once by the
// time all threads have stopped, and the LAB is left idle and closed.
#include <polder/sync/inbox.hpp>
#include <polder/sync/lab_state.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::claim;
using polder::gate;
using polder::inbox;
using polder::lab_state;
using polder::order;
using polder::plain;

constexpr std::uint64_t limit = 100;
constexpr std::uint32_t key = 7;

struct block {
  plain<block*> next;
  plain<int> drained;
};

struct lab {
  gate door;
  inbox<block> in;
  plain<int> data;  // whatever is private: one user at a time, or the checker reports a race

  atomic<int> elsewhere{0};
  atomic<int> ended{
      0};  // has the owner, without leaving? As the kernel says, which promises no more than the truth

  lab() { make(); }
  struct unmade {};
  explicit lab(unmade) {}

  // As others may find it already, though not before it is idle.
  void make() {
    touch();
    door.make(limit, key);
  }

  void touch() { data.set(data.get() + 1); }

  // Plain accesses are no scheduling points; this one lets others run between two of them.
  void touch_for_a_while() {
    touch();
    (void)elsewhere.load(order::relaxed);
    touch();
  }

  // As the one who holds the private data.
  void drain() {
    touch();
    for (block* b = in.take_all(); b != nullptr;) {
      block* const next = b->next.get();
      b->drained.set(b->drained.get() + 1);
      b = next;
    }
  }
  auto pending() {
    return [this] { return !in.empty(); };
  }
  auto drained() {
    return [this] { drain(); };
  }

  void post(block& b) {
    in.push_list(&b, &b, [](block* last, block* next) { last->next.set(next); });
    door.posted(pending(), drained());
  }

  enum class operation {
    allocate,
    allocate_more,  // than the gate admits
    free,
    collect,  // as all operations that have no fast path
  };

  // One attempt at an operation, by who believes that the LAB is its own. False: it is claimed, or another's.
  bool attempt(operation what) {
    if (!(what == operation::collect ? door.come_in() : enter(what) || door.come_in())) return false;
    what == operation::collect ? drain() : touch_for_a_while();
    door.exit();
    return true;
  }

  bool enter(operation what) {
    POLDER_MODEL_CHECK(door.announce());
    if (what == operation::free ? door.admits_key(key) : door.admits(what == operation::allocate ? 1 : limit))
      return true;
    if (door.is_open()) return true;  // the slow path is inside, too
    door.exit();
    return false;
  }

  // One operation of the owner. False: the LAB has been given up.
  bool operate(operation what) {
    for (;;) {
      if (attempt(what)) return true;
      if (door.give_way()) return false;
    }
  }

  void leave() { door.leave(pending(), drained()); }

  // Somebody who wants an idle thread's memory, and may ask whether that is still there.
  void raid(bool asks = false) {
    switch (door.try_claim([] { return polder::model::heavy_fence(); })) {
      case claim::refused: return;
      case claim::held:
        drain();
        if (asks && ended.load(order::relaxed) != 0) door.inherit();
        else if (door.end_claim()) return;
        break;
      case claim::inherited: break;
    }
    touch();
    door.settle(pending(), drained());
  }

  // Somebody who finds the LAB without a thread and takes its spans.
  void adopt() {
    if (!door.try_drain()) return;
    touch();
    door.settle(pending(), drained());
  }

  // The same by who looks at every LAB that there is, so that it may be one that is being made.
  void adopt_if_left() {
    if (door.state() == lab_state::idle) adopt();
  }

  // Whoever it was reserved for has ended, as the kernel says.
  void lift_if_ended() {
    const std::uint32_t former = door.reserved_for();
    if (former != gate::unnumbered && ended.load(order::acquire) != 0) door.lift(former);
  }

  void work(std::initializer_list<operation> operations, std::uint32_t self = gate::unnumbered) {
    if (!door.try_acquire(self)) return;
    POLDER_MODEL_CHECK(!door.active());
    for (operation o : operations) {
      if (!operate(o)) return;
    }
    leave();
  }
};

template <unsigned Blocks>
struct one_lab {
  lab l;
  block blocks[Blocks];

  void settled() {
    for (block& b : blocks) POLDER_MODEL_CHECK(b.drained.get() == 1);
    POLDER_MODEL_CHECK(l.door.state() == lab_state::idle);
    POLDER_MODEL_CHECK(!l.door.active());
    POLDER_MODEL_CHECK(!l.door.is_open());
    POLDER_MODEL_CHECK(l.in.empty());
  }
};

using op = lab::operation;

// Dekker of the poster with the leaver.
struct leave_or_post : rl::test_suite<leave_or_post, 2>, one_lab<2> {
  void thread(unsigned self) {
    if (self == 0) {
      l.work({op::allocate});
      l.work({op::free});
    } else {
      l.post(blocks[0]);
      l.post(blocks[1]);
    }
  }
  void after() { settled(); }
};

struct two_posters : rl::test_suite<two_posters, 3>, one_lab<3> {
  void thread(unsigned self) {
    if (self == 0) {
      l.work({op::collect, op::allocate});
    } else if (self == 1) {
      l.post(blocks[0]);
      l.work({op::allocate});
    } else {
      l.post(blocks[1]);
      l.post(blocks[2]);
    }
  }
  void after() { settled(); }
};

struct poster_and_adopter : rl::test_suite<poster_and_adopter, 3>, one_lab<2> {
  void thread(unsigned self) {
    if (self == 0) {
      l.work({op::allocate});
      l.work({op::free});
    } else if (self == 1) {
      l.post(blocks[0]);
      l.post(blocks[1]);
    } else {
      l.adopt();
      l.adopt();
    }
  }
  void after() { settled(); }
};

// Asymmetric Dekker of the owner with the claimer. The owner is in before the raid begins.
struct owner_or_claimer : rl::test_suite<owner_or_claimer, 2>, one_lab<1> {
  void before() { POLDER_MODEL_CHECK(l.door.try_acquire()); }
  void thread(unsigned self) {
    if (self == 0) {
      if (l.operate(op::allocate) && l.operate(op::free) && l.operate(op::collect)) l.leave();
    } else {
      l.raid();
      l.raid();
    }
  }
  void after() {
    l.post(blocks[0]);
    settled();
  }
};

struct lab_being_made {
  lab l{lab::unmade{}};

  void settled() {
    POLDER_MODEL_CHECK(l.door.state() == lab_state::idle);
    POLDER_MODEL_CHECK(!l.door.is_open());
  }
};

// The claimer finds a LAB that another thread is still making.
struct maker_or_claimer : rl::test_suite<maker_or_claimer, 2>, lab_being_made {
  void thread(unsigned self) {
    if (self == 0) {
      l.make();
      l.work({op::allocate, op::free});
    } else {
      l.raid();
      l.raid();
    }
  }
  void after() { settled(); }
};

// Whoever drains LABs without a thread finds one that its maker has not taken yet.
struct maker_or_drainer : rl::test_suite<maker_or_drainer, 3>, lab_being_made {
  void thread(unsigned self) {
    if (self == 0) {
      l.make();
      l.work({op::allocate, op::free});
    } else if (self == 1) {
      l.adopt_if_left();
      l.raid();
    } else {
      l.adopt_if_left();
    }
  }
  void after() { settled(); }
};

struct two_claimers : rl::test_suite<two_claimers, 3>, one_lab<1> {
  void before() { POLDER_MODEL_CHECK(l.door.try_acquire()); }
  void thread(unsigned self) {
    if (self == 0) {
      if (l.operate(op::free) && l.operate(op::allocate_more)) l.leave();
    } else {
      l.raid();
      l.raid();
    }
  }
  void after() {
    l.post(blocks[0]);
    settled();
  }
};

// The owner ends without a word, outside; who claims its LAB from then on gives it to others, one of whom is there already.
struct owner_ends : rl::test_suite<owner_ends, 3>, one_lab<1> {
  void before() { POLDER_MODEL_CHECK(l.door.try_acquire(7)); }
  void thread(unsigned self) {
    if (self == 0) {
      if (l.operate(op::allocate)) static_cast<void>(l.operate(op::free));
      l.ended.store(1, order::relaxed);
    } else if (self == 1) {
      l.raid(true);
      l.raid(true);
    } else {
      l.post(blocks[0]);
      l.adopt();
    }
  }
  void after() {
    l.raid(true);
    settled();
    l.work({op::allocate, op::free});
    settled();
  }
};

// The owner has looked for its LAB and is about to enter when a signal handler interrupts it, which works there, or gives it
// away; then it goes on. Meanwhile others want it: it is theirs when that thread has ended, not before.
struct interrupted_owner : rl::test_suite<interrupted_owner, 3>, one_lab<1> {
  void before() { POLDER_MODEL_CHECK(l.door.try_acquire(7)); }
  void thread(unsigned self) {
    if (self == 0) {
      const bool kept = l.operate(op::allocate);                     // the handler
      static_cast<void>(l.attempt(kept ? op::free : op::allocate));  // what it interrupted
      l.ended.store(1, order::release);
    } else if (self == 1) {
      l.raid();
      l.work({op::allocate}, 8);
    } else {
      l.raid();
      l.lift_if_ended();
      l.work({op::free}, 9);
    }
  }
  void after() {
    l.raid(true);
    l.lift_if_ended();
    l.work({op::allocate});
    l.post(blocks[0]);
    settled();
  }
};

// Everything at once: the owner who finds itself claimed goes away, the claimer inherits, the poster posts.
struct owner_claimer_poster : rl::test_suite<owner_claimer_poster, 3>, one_lab<2> {
  void before() { POLDER_MODEL_CHECK(l.door.try_acquire()); }
  void thread(unsigned self) {
    if (self == 0) {
      if (l.operate(op::allocate) && l.operate(op::free)) l.leave();
      l.work({op::allocate});
    } else if (self == 1) {
      l.raid();
      l.adopt();
      l.raid();
    } else {
      l.post(blocks[0]);
      l.post(blocks[1]);
      l.work({op::free});
    }
  }
  void after() { settled(); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<leave_or_post>(
      {.title = "gate: leave or post", .how = search::bounded, .floor = 10'000, .switches = 4});
  ok &= passes<two_posters>(deep("gate: two posters", 10'000));
  ok &= passes<two_posters>({.title = "gate: two posters", .executions = 30'000});
  ok &= passes<poster_and_adopter>(
      {.title = "gate: poster and adopter", .how = search::bounded, .floor = 10'000, .switches = 3});
  ok &= passes<poster_and_adopter>({.title = "gate: poster and adopter", .executions = 30'000});
  for (membarrier_world world : {membarrier_world::paired, membarrier_world::systemwide}) {
    ok &= passes<owner_or_claimer>({.title = "gate: owner or claimer",
                                    .how = search::bounded,
                                    .floor = 10'000,
                                    .switches = 4,
                                    .world = world});
    ok &= passes<maker_or_claimer>({.title = "gate: maker or claimer",
                                    .how = search::bounded,
                                    .floor = 10'000,
                                    .switches = 4,
                                    .world = world});
    ok &= passes<maker_or_drainer>({.title = "gate: maker or drainer",
                                    .how = search::bounded,
                                    .floor = 10'000,
                                    .switches = 3,
                                    .world = world});
    ok &= passes<two_claimers>(deep("gate: two claimers", 10'000, world));
    ok &= passes<two_claimers>({.title = "gate: two claimers", .executions = 30'000, .world = world});
    ok &= passes<owner_ends>(
        {.title = "gate: owner ends", .how = search::bounded, .floor = 10'000, .switches = 3, .world = world});
    ok &= passes<owner_ends>({.title = "gate: owner ends", .executions = 30'000, .world = world});
    ok &= passes<interrupted_owner>({.title = "gate: interrupted owner",
                                     .how = search::bounded,
                                     .floor = 10'000,
                                     .switches = 3,
                                     .world = world});
    ok &= passes<interrupted_owner>({.title = "gate: interrupted owner", .executions = 30'000, .world = world});
    ok &= passes<owner_claimer_poster>({.title = "gate: owner, claimer, poster",
                                        .how = search::bounded,
                                        .floor = 5'000,
                                        .switches = 2,
                                        .world = world});
    ok &= passes<owner_claimer_poster>(
        {.title = "gate: owner, claimer, poster", .executions = 60'000, .world = world});
  }
  return ok ? 0 : 1;
}
