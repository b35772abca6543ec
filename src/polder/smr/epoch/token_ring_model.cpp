// token_ring under the model checker: what is freed after two arrivals is read by nobody, with members that are passed
// over and one that joins late.
#include <polder/smr/epoch/token_ring.hpp>

#include "explore.hpp"
#include "model_fences.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::plain;
using polder::smr::token_ring;

struct world {
  token_ring ring;
  static constexpr unsigned most = 4;
  token_ring::seat seats[most];
  token_ring::place places[most];
  atomic<int> here[most];  // members whose seats can be found, by place + 1
  atomic<int> shared;
  plain<int> object;
  polder::model::fences fences;

  void start(unsigned members) {
    object.set(1);
    shared.store(1, order::relaxed);
    for (unsigned m = 0; m != members; ++m) join(m);
  }
  void join(unsigned self) {
    places[self] = ring.join();
    here[places[self]].store(int(self) + 1, order::release);
  }
  bool outside(token_ring::place place) {
    const int who = here[place].load(order::acquire);
    return who != 0 && !seats[who - 1].inside();
  }

  // An operation's beginning. True: the token arrived, and was passed on.
  bool begin(unsigned self, bool look_at_others) {
    seats[self].enter(fences);
    token_ring::sight seen = ring.look();
    if (seen.holder() != places[self]) {
      if (!look_at_others) return false;
      seen = ring.past_who_is_outside(places[self], fences, [this](token_ring::place p) { return outside(p); });
      if (seen.holder() != places[self]) return false;
    }
    return ring.pass(seen);
  }
  void end(unsigned self) { seats[self].leave(); }

  void read(unsigned self) {
    begin(self, false);
    if (shared.load(order::acquire) != 0) {
      polder::model::pause_point();
      POLDER_MODEL_CHECK(object.get() == 1);
    }
    end(self);
  }

  void unlink_and_free(unsigned self, int operations) {
    int arrivals = begin(self, true);
    const int tag = arrivals;
    shared.store(0, order::release);
    end(self);
    for (int n = 0; n != operations; ++n) {
      arrivals += begin(self, true);
      if (arrivals >= tag + 2) {
        object.set(2);
        n = operations - 1;
      }
      end(self);
    }
  }

  // Unlinked in an operation that does not look for the token: older than its next arrival.
  void unlink(unsigned self) {
    seats[self].enter(fences);
    shared.store(0, order::release);
    end(self);
  }

  // Who frees what the token's arrival made safe before it passes the token on: the thesis's naive step. What is unlinked
  // meanwhile is older than the arrival, and this counts when it was this thread that passed the token on.
  template <bool CountsWhatItLost = false>
  void unlink_and_free_first(unsigned self, int operations, bool look_at_others) {
    int arrivals = 0;
    unlink(self);
    for (int n = 0; n != operations; ++n) {
      seats[self].enter(fences);
      const token_ring::sight seen =
          look_at_others
              ? ring.past_who_is_outside(places[self], fences, [this](token_ring::place p) { return outside(p); })
              : ring.look();
      if (seen.holder() == places[self]) {
        if (arrivals == 1) {
          object.set(2);
          n = operations - 1;
        }
        const bool mine = ring.pass(seen);
        arrivals += CountsWhatItLost || mine;
      }
      end(self);
    }
  }
};

struct one_frees_first : rl::test_suite<one_frees_first, 2>, world {
  void before() { start(2); }
  void thread(unsigned self) {
    if (self == 0) {
      unlink_and_free_first(0, 3, true);
    } else {
      read(1);
      read(1);
    }
  }
};

// The token is moved past two with one fence.
struct one_stays_away : rl::test_suite<one_stays_away, 2>, world {
  void before() { start(3); }
  void thread(unsigned self) {
    if (self == 0) {
      unlink_and_free(0, 3);
    } else {
      read(2);
      read(2);
    }
  }
};

struct one_frees : rl::test_suite<one_frees, 2>, world {
  void before() { start(2); }
  void thread(unsigned self) {
    if (self == 0) {
      unlink_and_free(0, 3);
    } else {
      read(1);
      read(1);
    }
  }
};

struct two_move_it : rl::test_suite<two_move_it, 3>, world {
  void before() { start(3); }
  void thread(unsigned self) {
    if (self == 0) {
      unlink_and_free(0, 3);
    } else if (self == 1) {
      read(1);
    } else {
      begin(2, true);
      end(2);
      begin(2, true);
      end(2);
    }
  }
};

struct one_joins : rl::test_suite<one_joins, 2>, world {
  void before() { start(1); }
  void thread(unsigned self) {
    if (self == 0) {
      unlink_and_free(0, 3);
    } else {
      join(1);
      read(1);
    }
  }
};

// Who looks past the reader is another than who frees, and passes no fence afterwards: it is not in the last place.
struct another_moves_it : rl::test_suite<another_moves_it, 3>, world {
  void before() {
    start(3);
    while (ring.look().holder() != places[2]) ring.pass(ring.look());
  }
  void thread(unsigned self) {
    if (self == 0) {
      read(0);
    } else if (self == 1) {
      begin(1, true);
      end(1);
    } else {
      unlink(2);
      const bool first = begin(2, false);
      end(2);
      if (first && begin(2, false)) object.set(2);
    }
  }
};

// Who looks past the first, which is nobody's, comes to the reader when another has passed the token on.
struct received_meanwhile : rl::test_suite<received_meanwhile, 3>, world {
  void before() { start(4); }
  void thread(unsigned self) {
    if (self == 0) {
      unlink(1);
      const bool first = begin(1, false);
      end(1);
      if (first && begin(1, true)) object.set(2);
    } else if (self == 1) {
      read(2);
    } else {
      begin(3, true);
      end(3);
    }
  }
};

// The same with the naive step: it is moved past who has received it, and frees.
template <bool CountsWhatItLost>
struct received_and_lost : rl::test_suite<received_and_lost<CountsWhatItLost>, 3>, world {
  void before() { start(3); }
  void thread(unsigned self) {
    if (self == 0) {
      unlink_and_free_first<CountsWhatItLost>(0, 2, false);
    } else if (self == 1) {
      read(1);
    } else {
      begin(2, true);
      end(2);
    }
  }
};

// Waits for guards, as presence.hpp does, and gives up where that would go on waiting. The reader's thread ends.
struct one_waits : rl::test_suite<one_waits, 2>, world {
  void before() { start(1); }
  void thread(unsigned self) {
    if (self == 0) {
      read(0);
      read(0);
      seats[0].vacate();
    } else {
      shared.store(0, order::release);
      if (!fences.heavy()) return;
      const std::uint64_t word = seats[0].word();
      if ((word & 1) != 0 && seats[0].word() == word) return;
      object.set(2);
    }
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  for (const membarrier_world w : worlds) {
    ok &= passes<one_frees>(
        {.title = "a reader, one who frees", .how = search::bounded, .floor = 1000, .switches = 3, .world = w});
    ok &= passes<one_frees>({.title = "a reader, one who frees", .executions = 60'000, .world = w});
    ok &= passes<one_frees_first>(
        {.title = "one who frees, then passes", .how = search::bounded, .floor = 1000, .switches = 3, .world = w});
    ok &= passes<one_frees_first>({.title = "one who frees, then passes", .executions = 40'000, .world = w});
    ok &= passes<one_stays_away>(
        {.title = "past two, one reads", .how = search::bounded, .floor = 1000, .switches = 3, .world = w});
    ok &= passes<one_stays_away>({.title = "past two, one reads", .executions = 40'000, .world = w});
    ok &= passes<one_joins>(
        {.title = "a reader that joins late", .how = search::bounded, .floor = 500, .switches = 3, .world = w});
    ok &= passes<one_joins>({.title = "a reader that joins late", .executions = 60'000, .world = w});
    ok &= passes<another_moves_it>(deep("another moves it", 1000, w));
    ok &= passes<received_meanwhile>(deep("received meanwhile", 1000, w));
    ok &= passes<received_and_lost<false>>(deep("received and lost", 1000, w));
    if (w == membarrier_world::systemwide)
      ok &= must_fail<received_and_lost<true>>(
          {.title = "counts what it lost", .how = search::bounded, .switches = 3, .world = w},
          rl::test_result_data_race);
    ok &= passes<one_waits>(
        {.title = "one who waits", .how = search::bounded, .floor = 1000, .switches = 3, .world = w});
    ok &= passes<two_move_it>({.title = "two that move the token", .executions = 100'000, .world = w});
  }
  return ok ? 0 : 1;
}
