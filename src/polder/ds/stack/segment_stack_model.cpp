// segment_stack under the model checker: what was put comes out once, of one thread in order; empty is true; a segment that is
// removed takes nothing with it.
#include <polder/ds/stack/segment_stack.hpp>

#include "segments.hpp"

namespace {

using polder::ds::anyone;
using polder::ds::one_each;
using polder::model::kind;

template <class Puts, unsigned Threads, kind Kind = kind::frees>
using stack = polder::model::segments<polder::ds::segment_stack, Puts, Threads, Kind>;

// Both put and take: who has put finds something, since each takes once.
template <class Puts, unsigned K, unsigned Threads>
struct both : rl::test_suite<both<Puts, K, Threads>, Threads>, stack<Puts, Threads> {
  both() : stack<Puts, Threads>(K) {}
  void before() { this->begin(); }
  void thread(unsigned self) {
    this->put(self, 1);
    this->must_take(self);
    this->put(self, 2);
    this->must_take(self);
  }
  void after() { this->comes_out(); }
};

// A second segment is emptied and removed while another comes to put into it.
template <class Puts, unsigned K>
struct removed : rl::test_suite<removed<Puts, K>, 2>, stack<Puts, 2> {
  removed() : stack<Puts, 2>(K) {}
  void before() {
    this->begin();
    for (unsigned n = 1; n != 4; ++n) this->put(0, n);
  }
  void thread(unsigned self) {
    if (self == 0) {
      for (int i = 0; i != 3; ++i) this->must_take(0);
    } else {
      this->put(1, 1);
      this->put(1, 2);
    }
  }
  void after() { this->comes_out(); }
};

// A thread's own in order, while another puts: only two of the three are the first one's.
template <class Puts, unsigned K>
struct in_order : rl::test_suite<in_order<Puts, K>, 2>, stack<Puts, 2> {
  in_order() : stack<Puts, 2>(K) {}
  void before() {
    this->begin();
    this->put(1, 0);  // another's, of no number: the next segment has room for two then
    this->put(0, 1);
    this->put(0, 2);
  }
  void thread(unsigned self) {
    if (self == 0) {
      unsigned last = 3;
      for (int i = 0; i != 3; ++i) {
        const unsigned n = this->take(0);
        if (n == 0 || n == 3) continue;
        POLDER_MODEL_CHECK(n < last);
        last = n;
      }
    } else {
      this->put(1, 3);
    }
  }
  void after() { this->comes_out(); }
};

// Never empty: one leaves an element behind before it takes another.
template <class Puts, unsigned K, kind Kind>
struct never_empty : rl::test_suite<never_empty<Puts, K, Kind>, 2>, stack<Puts, 2, Kind> {
  never_empty() : stack<Puts, 2, Kind>(K) {}
  void before() {
    this->begin();
    this->put(0, 1);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 2);
      this->must_take(0);
    } else {
      this->must_take(1);
    }
  }
  void after() { this->comes_out(); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<both<anyone, 1, 2>>(
      {.title = "stack, k 1: both", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<both<anyone, 2, 2>>(
      {.title = "stack, k 2: both", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<both<one_each, 2, 3>>({.title = "stack, one each: three", .executions = 10'000});
  ok &= passes<removed<anyone, 1>>(
      {.title = "stack, k 1: removed", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<removed<anyone, 2>>(
      {.title = "stack, k 2: removed", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<removed<one_each, 2>>(
      {.title = "stack, one each: removed", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<in_order<one_each, 2>>(
      {.title = "stack, one each: order", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<never_empty<anyone, 2, kind::frees>>(
      {.title = "stack, k 2: never empty", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<never_empty<anyone, 2, kind::keeps>>(
      {.title = "stack, kept, k 2: never empty", .how = search::bounded, .floor = 100, .switches = 3});
  return ok ? 0 : 1;
}
