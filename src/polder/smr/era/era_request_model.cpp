// era_request under the model checker: a reader that asks gets a word of the source it asked for, and what it points to is
// not freed; nor is the object in which a helper reads, though the reader has gone on.
#include <polder/smr/era/era_request.hpp>

#include <source_location>

#include "explore.hpp"
#include "model_fences.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::plain;
using polder::smr::each_era_published;
using polder::smr::era;
using polder::smr::era_aid;
using polder::smr::era_clock;
using polder::smr::era_request;
using polder::smr::era_slot;
using polder::smr::no_era;

using word = era_request::word;

constexpr unsigned most = 3;  // threads

// Threads that take turns: what one did before another's turn is done, but nothing tells that other.
struct turns {
  unsigned stage = 0;
  void over() { ++stage; }
  void wait(unsigned n) const {
    while (stage < n) rl::yield(1, polder::model::info(std::source_location::current()));
  }
};

struct cells {
  era_request::answer of[most];
  turns* stall = nullptr;  // who looks has seen that there is an answer, and then waits
  const era_request::answer& at(unsigned n) const {
    if (stall != nullptr && rl::ctx().current_thread() == 2) stall->over(), stall->wait(5);
    return of[n];
  }
};

struct member {
  struct {
    era_slot slots[2];
    era_request request;
    cells answers;
    era_aid aid;
    template <class F>
    void each(F&& f) const {
      for (const era_slot& s : slots) f(s);
    }
  } seat;
  member* next = nullptr;
};

// Objects 1, 2, … are reachable through words; 0 is none. Freeing one is writing to it: whoever reads it then races.
struct world {
  struct link {
    plain<int>* within = nullptr;  // the object that the word is part of
    int whole = 0;
    atomic<word> to;
  };

  era_clock clock;
  polder::model::fences fences;
  member members[most];
  plain<int> objects[4];
  era born[4] = {0, 1, 1, 0};
  link shared;

  const member* first() const { return &members[0]; }

  void start() {
    for (unsigned n = 1; n != most; ++n) members[n - 1].next = &members[n];
    for (int n = 1; n != 4; ++n) objects[n].set(n);
    shared.to.store(1, order::relaxed);
  }
  void look_at(word n) {
    if (n == 0) return;
    polder::model::pause_point();
    POLDER_MODEL_CHECK(objects[n].get() == int(n));
  }

  static word read(const void* source) {
    const link& l = *static_cast<const link*>(source);
    if (l.within != nullptr) POLDER_MODEL_CHECK(l.within->get() == l.whole);
    return l.to.load(order::acquire);
  }
  word ask(unsigned self, unsigned slot, const link& source, era from, era to, era_request::reader by = read) {
    auto& s = members[self].seat;
    return s.request.protect(s.slots[slot], &source, by, from, to, clock, fences,
                             [&s](unsigned n) -> const era_request::answer& { return s.answers.at(n); });
  }
  void help(unsigned self) {
    auto& asker = members[0].seat;
    if (asker.request.open())
      asker.request.help(members[self].seat.aid, asker.answers.of[self], self, clock, fences);
  }
  // Who moves the clock helps first.
  void help_and_tick(unsigned self) {
    help(self);
    clock.tick();
  }
  void replace(link& at, int by) {
    if (by != 0) {
      born[by] = clock.now();
      objects[by].set(by);
    }
    const word old = at.to.exchange(word(by), order::acq_rel);
    if (!fences.heavy()) return;
    const era retired = clock.now();
    bool kept = false;
    each_era_published(*this, [&](era from, era to) { kept = kept || (born[old] <= to && from <= retired); });
    if (!kept) objects[old].set(-1);
  }
};

// The reader asks at once; another reads for it while a third replaces what it reads.
struct asker_and_helper : rl::test_suite<asker_and_helper, 3>, world {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      look_at(ask(0, 0, shared, no_era, no_era));
      members[0].seat.slots[0].clear();
    } else if (self == 1) {
      help_and_tick(1);
      help_and_tick(1);
    } else {
      replace(shared, 3);
    }
  }
};

// The clock moves while a helper reads: what it finds may be younger than what it had published.
struct asker_and_ticker : rl::test_suite<asker_and_ticker, 3>, world {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      look_at(ask(0, 0, shared, no_era, no_era));
      members[0].seat.slots[0].clear();
    } else if (self == 1) {
      help(1);
    } else {
      clock.tick();
      born[3] = clock.now();
      shared.to.store(3, order::release);
      replace(shared, 0);
    }
  }
};

// The slot that an answer came to is used again, in the same era.
struct asker_reads_on : rl::test_suite<asker_reads_on, 2>, world {
  void before() { start(); }
  void thread(unsigned self) {
    era_slot& slot = members[0].seat.slots[0];
    if (self == 0) {
      look_at(ask(0, 0, shared, no_era, no_era));
      look_at(slot.protect(shared.to, clock, fences));
      slot.clear();
    } else {
      help(1);
      replace(shared, 3);
      replace(shared, 0);
    }
  }
};

// The word that is asked for lies in object 1, which is unlinked; the helper may come to read it when the reader is gone.
struct asker_within_an_object : rl::test_suite<asker_within_an_object, 3>, world {
  link behind;
  void before() {
    start();
    behind.within = &objects[1];
    behind.whole = 1;
    behind.to.store(2, order::relaxed);
  }
  void thread(unsigned self) {
    auto& slots = members[0].seat.slots;
    if (self == 0) {
      if (slots[0].protect(shared.to, clock, fences) == 1) {
        const era e = slots[0].mine_or_none();
        look_at(ask(0, 1, behind, e, e));
      }
      slots[1].clear();
      slots[0].clear();
    } else if (self == 1) {
      help_and_tick(1);
    } else {
      replace(shared, 0);
    }
  }
};

// Two requests for two words, one after the other: a helper that is late for the first does not answer the second.
struct asker_asks_twice : rl::test_suite<asker_asks_twice, 3>, world {
  link another;
  void before() {
    start();
    another.to.store(2, order::relaxed);
  }
  void thread(unsigned self) {
    if (self == 0) {
      POLDER_MODEL_CHECK(ask(0, 0, shared, no_era, no_era) == 1);
      POLDER_MODEL_CHECK(ask(0, 1, another, no_era, no_era) == 2);
    } else {
      help_and_tick(self);
    }
  }
};

// A request for a word that lies nowhere, and one for a word in object 1, which the asker's other slot protects: a helper
// that is late for the first does not read for the second, whose object it does not keep.
struct asker_asks_on : rl::test_suite<asker_asks_on, 3>, world {
  link root, behind;
  void before() {
    start();
    behind.within = &objects[1];
    behind.whole = 1;
    behind.to.store(2, order::relaxed);
    root.to.store(2, order::relaxed);
    members[0].seat.slots[0].publish(1);
    members[1].next = nullptr;  // fewer words to look at: more executions
  }
  void thread(unsigned self) {
    if (self == 0) {
      ask(0, 1, root, no_era, no_era);
      ask(0, 1, behind, 1, 1);
      members[0].seat.slots[1].clear();
      members[0].seat.slots[0].clear();
    } else if (self == 1) {
      help(1);
    } else {
      replace(shared, 0);
    }
  }
};

// The other way round: a helper that is late for the first, whose word lies in object 1, has nothing of the second: not its
// eras, which are none, nor its reader, which is for a word that lies nowhere.
struct asker_asks_off : rl::test_suite<asker_asks_off, 3>, world {
  link root, behind;
  static word read_nowhere(const void* source) {
    POLDER_MODEL_CHECK(static_cast<const link*>(source)->within == nullptr);
    return read(source);
  }
  void before() {
    start();
    behind.within = &objects[1];
    behind.whole = 1;
    behind.to.store(2, order::relaxed);
    root.to.store(2, order::relaxed);
    members[0].seat.slots[0].publish(1);
    members[1].next = nullptr;
  }
  void thread(unsigned self) {
    auto& slots = members[0].seat.slots;
    if (self == 0) {
      ask(0, 1, behind, 1, 1);
      slots[0].clear();
      ask(0, 1, root, no_era, no_era, read_nowhere);
      slots[1].clear();
    } else if (self == 1) {
      help(1);
    } else {
      replace(shared, 0);
    }
  }
};

// Who looks has seen that a request is answered when another answers the next one in the same cell: the era that it then reads says
// nothing of the first, which the asker's slot has taken over.
struct answered_again : rl::test_suite<answered_again, 3>, world {
  struct place : link {
    turns* waits = nullptr;
    unsigned until = 0;
  };
  place first, second;
  turns t;
  static word read_late(const void* source) {
    const place& p = *static_cast<const place*>(static_cast<const link*>(source));
    if (rl::ctx().current_thread() == 0) p.waits->over(), p.waits->wait(p.until);
    return p.to.load(order::acquire);
  }
  void before() {
    start();
    first.to.store(1, order::relaxed);
    second.to.store(2, order::relaxed);
    first.waits = second.waits = members[0].seat.answers.stall = &t;
    first.until = 3;
    second.until = 5;
  }
  void thread(unsigned self) {
    if (self == 0) {
      const word seen = ask(0, 0, first, no_era, no_era, read_late);
      ask(0, 1, second, no_era, no_era, read_late);
      look_at(seen);
      members[0].seat.slots[1].clear();
      members[0].seat.slots[0].clear();
    } else if (self == 1) {
      t.wait(1);
      help(1);
      t.over();
      t.wait(4);
      clock.tick();
      help(1);
      t.over();
    } else {
      t.wait(2);
      replace(first, 3);
      t.stage = 5;
    }
  }
};

// That all this is reached: of some reader's word it is not true that itself has read it.
struct nobody_is_answered : rl::test_suite<nobody_is_answered, 2>, world {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) ask(0, 0, shared, no_era, no_era);
    else help_and_tick(1);
  }
  void after() { POLDER_MODEL_CHECK(members[0].seat.answers.of[1].lived.load(order::relaxed) == no_era); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  for (const membarrier_world w : worlds) {
    ok &= passes<asker_and_helper>({.title = "requests: asker, helper, reclaimer",
                                    .how = search::bounded,
                                    .floor = 1000,
                                    .switches = 2,
                                    .world = w});
    ok &=
        passes<asker_and_helper>({.title = "requests: asker, helper, reclaimer", .executions = 60'000, .world = w});
    ok &= passes<asker_and_ticker>({.title = "requests: asker, helper, ticker", .executions = 60'000, .world = w});
    ok &= passes<asker_reads_on>(
        {.title = "requests: asker reads on", .how = search::bounded, .floor = 1000, .switches = 3, .world = w});
    ok &= passes<asker_within_an_object>(
        {.title = "requests: asker within an object", .executions = 60'000, .world = w});
    ok &= passes<asker_asks_twice>({.title = "requests: asker asks twice", .executions = 40'000, .world = w});
    if (w == polder::model::membarrier_world::systemwide) {
      ok &= passes<asker_asks_on>(deep("requests: asker asks on", 1000, w));
      ok &= passes<asker_asks_off>(deep("requests: asker asks off", 1000, w));
    }
    ok &= passes<answered_again>({.title = "requests: answered again", .executions = 5'000, .world = w});
    ok &= must_fail<nobody_is_answered>({.title = "requests: nobody is answered", .world = w});
  }
  return ok ? 0 : 1;
}
