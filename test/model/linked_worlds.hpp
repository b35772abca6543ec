#pragma once
// linked_worlds — what threads do to a queue that is a list of parts with room for two elements each, and what must hold
// whatever the order of their steps.
//
//   World   a queue and its elements: put(self), get(self), which says whether there was one, and comes_out()
#include <polder/sync/atomic.hpp>

#include "explore.hpp"

namespace polder::model {

// The part is full: one goes on to the next, puts and gets, and the other follows by what it is told of that, or leaves the part
// itself.
template <class World>
struct goes_on : rl::test_suite<goes_on<World>, 2>, World {
  void before() {
    this->put(0);
    this->put(0);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0);
      for (int times = 0; times != 3; ++times) this->get(0);
    } else {
      for (int times = 0; times != 3; ++times) this->get(1);
      this->put(1);
    }
  }
  void after() { this->comes_out(); }
};

// Who has put finds something, whoever else is about to put before it.
template <class World>
struct both_put : rl::test_suite<both_put<World>, 2>, World {
  void thread(unsigned self) {
    this->put(self);
    POLDER_MODEL_CHECK(this->get(self));
  }
  void after() { this->comes_out(); }
};

// Both need a new one, and both get: there is something for each.
template <class World>
struct both_go_on : rl::test_suite<both_go_on<World>, 2>, World {
  void before() {
    this->put(0);
    this->put(1);
  }
  void thread(unsigned self) {
    this->put(self);
    POLDER_MODEL_CHECK(this->get(self));
    POLDER_MODEL_CHECK(this->get(self));
  }
  void after() { this->comes_out(); }
};

// Never empty: one leaves an element behind before it takes another.
template <class World>
struct leaves_one : rl::test_suite<leaves_one<World>, 2>, World {
  void before() { this->put(0); }
  void thread(unsigned self) {
    if (self == 0) this->put(0);
    POLDER_MODEL_CHECK(this->get(self));
  }
  void after() { this->comes_out(); }
};

// One links and stalls, one leaves the part, and one puts by what it then sees of tail: it must not be the part that is freed
// when the first one has gone on. By a reclaimer of regions; slots of the first one would keep it.
template <class World>
struct tail_is_behind : rl::test_suite<tail_is_behind<World>, 3>, World {
  bool left = false, through = false;

  static void wait_for(const bool& is_so) {
    while (!is_so) rl::yield(1, info(place::current()));
  }
  void before() {
    this->put(0);
    this->put(0);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0);
      through = true;
    } else if (self == 1) {
      for (int times = 0; times != 3; ++times) this->get(1);
      left = true;
      wait_for(through);
      this->get(1);
    } else {
      wait_for(left);
      this->put(2);
    }
  }
  void after() { this->comes_out(); }
};

}  // namespace polder::model
