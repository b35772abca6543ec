// segment_list under the model checker: what was put comes out once, of one thread in order;
// empty is true; a segment that is left takes nothing with it.
#include <polder/ds/queue/segment_list.hpp>

#include "segments.hpp"

namespace {

using polder::ds::anyone;
using polder::ds::one_each;
using polder::model::kind;

template <class Puts, unsigned Threads, kind Kind = kind::frees>
using list = polder::model::segments<polder::ds::segment_list, Puts, Threads, Kind>;

// Both put and take: who has put finds something, since each takes once. Of one thread in its order.
template <class Puts, unsigned K, unsigned Threads>
struct both : rl::test_suite<both<Puts, K, Threads>, Threads>, list<Puts, Threads> {
  both() : list<Puts, Threads>(K) {}
  void before() { this->begin(); }
  void thread(unsigned self) {
    this->put(self, 1);
    this->must_take(self);
    this->put(self, 2);
    this->must_take(self);
  }
  void after() { this->comes_out(); }
};

// One puts, another takes: a thread's own in order where that is promised.
template <class Puts, unsigned K>
struct in_order : rl::test_suite<in_order<Puts, K>, 2>, list<Puts, 2> {
  in_order() : list<Puts, 2>(K) {}
  // Another's element, of no number, comes first: the next segment of one_each has room for two then.
  void before() {
    this->begin();
    if (Puts::own_segments) this->put(1, 0);
  }
  void thread(unsigned self) {
    if (self == 0) {
      for (unsigned n = 1; n != 4; ++n) this->put(0, n);
    } else {
      unsigned last = 0;
      for (int i = 0; i != 4; ++i) {
        const unsigned n = this->take(1);
        if (n == 0) continue;
        if (Puts::own_segments || K == 1) POLDER_MODEL_CHECK(last < n);
        last = n;
      }
    }
  }
  void after() { this->comes_out(); }
};

// Two put, one leaves the other's segment with room in it, one takes: who comes late is in or has to come again.
template <class Puts, unsigned K>
struct late : rl::test_suite<late<Puts, K>, 3>, list<Puts, 3> {
  late() : list<Puts, 3>(K) {}
  void before() {
    this->begin();
    this->put(0, 1);  // of one_each this fills a segment of one
    this->put(1, 1);  // and this begins one of two
    this->take(2);
  }
  void thread(unsigned self) {
    if (self == 0) this->put(0, 2);
    if (self == 1) this->put(1, 2);
    if (self == 2) {
      this->take(2);
      this->take(2);
    }
  }
  void after() { this->comes_out(); }
};

// Never empty: one leaves an element behind before it takes another.
template <class Puts, unsigned K, kind Kind>
struct never_empty : rl::test_suite<never_empty<Puts, K, Kind>, 2>, list<Puts, 2, Kind> {
  never_empty() : list<Puts, 2, Kind>(K) {}
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
  ok &=
      passes<both<anyone, 1, 2>>({.title = "list, k 1: both", .how = search::bounded, .floor = 100, .switches = 2});
  ok &=
      passes<both<anyone, 2, 2>>({.title = "list, k 2: both", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<both<one_each, 2, 3>>({.title = "list, one each: three", .executions = 10'000});
  ok &= passes<in_order<anyone, 1>>(
      {.title = "list, k 1: order", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<in_order<one_each, 2>>(
      {.title = "list, one each: order", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<late<one_each, 2>>(
      {.title = "list, one each: late", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<late<one_each, 2>>({.title = "list, one each: late", .executions = 20'000});
  ok &= passes<never_empty<anyone, 2, kind::frees>>(
      {.title = "list, k 2: never empty", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<never_empty<anyone, 2, kind::keeps>>(
      {.title = "list, kept, k 2: never empty", .how = search::bounded, .floor = 100, .switches = 3});
  return ok ? 0 : 1;
}
