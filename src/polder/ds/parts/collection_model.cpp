// collection under the model checker: of elements whose move throws none is lost or got twice, and no get finds nothing
// while one is inside.
#include <polder/ds/parts/collection.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <polder/base/bits.hpp>

#include "explore.hpp"

// Relacy has operators new and delete of its own, but for this one.
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace {

using polder::atomic;
using polder::order;
using polder::plain;
using polder::ds::box;

struct boxes {
  using boxed = box<plain<int>*>;
  polder::ds::returned<plain<int>*> all;
  plain<int> contents[2];

  void give(unsigned self) {
    contents[self].set(1);
    all.give(new boxed(&contents[self]));
  }
  bool take() {
    const std::unique_ptr<boxed> b(all.take());
    if (b == nullptr) return false;
    POLDER_MODEL_CHECK(b->value->get() == 1);
    b->value->set(0);
    return true;
  }
};

// Who sees the count finds the box.
struct counted : rl::test_suite<counted, 2>, boxes {
  void thread(unsigned self) {
    if (self == 0) return give(0);
    const bool one = all.gifts() != 0;
    POLDER_MODEL_CHECK(take() || !one);
  }
};

// Two come, and two threads take.
struct given_and_taken : rl::test_suite<given_and_taken, 3>, boxes {
  plain<int> taken[3];

  void thread(unsigned self) {
    if (self != 2) give(self);
    if (self != 0) taken[self].set(take());
  }
  void after() {
    int n = taken[1].get() + taken[2].get();
    while (take()) ++n;
    POLDER_MODEL_CHECK(all.gifts() == 2 && n == 2);
  }
};

unsigned thread_now() { return unsigned(rl::ctx().current_thread()); }

// An element; one that thread 0 gets first refuses to be moved out.
struct element {
  struct refused {};
  static inline bool refuses = false;

  explicit element(int i) : n(i) {}
  element(element&& other) noexcept(false) : n(other.n.get()) {
    if (refuses && thread_now() == 0) throw refused{};
  }
  plain<int> n;
};

// Words of the test, which order nothing: the threads take turns.
struct seen {
  static inline bool back;      // the one that refused
  static inline unsigned late;  // how many thread 2 got, other than that one, when it was back
  static inline bool knows;  // thread 1, when it found nothing: of the third put, and so of all that was before it
};

// Gives the greatest of three.
class greatest : public polder::ds::collection<greatest, element, polder::ds::in_node<element>> {
  using base = polder::ds::collection<greatest, element, polder::ds::in_node<element>>;
  friend base;

  static constexpr unsigned most = 3;
  static constexpr unsigned bit(unsigned n) { return 1u << n; }
  static constexpr unsigned one_put = 1u << (most + 1);

  bool insert(kept& e) {
    const auto n = unsigned(e->value.n.get());
    inside_[n] = std::move(e);
    which_.fetch_add(one_put + bit(n), order::acq_rel);
    return true;
  }
  std::optional<kept> remove() {
    unsigned now = which_.load(order::acquire);
    while (now % one_put != 0) {
      const unsigned n = polder::floor_log2(now % one_put);
      if (!which_.cas(now, now - bit(n), order::acq_rel, order::acquire)) continue;
      if (thread_now() == 2 && seen::back) ++seen::late;
      return std::move(inside_[n]);
    }
    if (thread_now() == 1) seen::knows = now / one_put == 3;
    return std::nullopt;
  }

  kept inside_[most + 1];
  atomic<unsigned> which_;  // a bit for each, and how many were put
};

// One puts back what it could not get, and puts another; one takes two; the third must find what is left, if it knows
// that there was something at every moment.
struct putting_back : rl::test_suite<putting_back, 3> {
  greatest of;
  plain<int> got[3];

  void before() {
    seen::back = seen::knows = false;
    seen::late = 0;
    put(1);
    put(2);
  }
  void put(int n) { POLDER_MODEL_CHECK(of.put(element(n))); }
  bool get(unsigned self) {
    const std::optional<element> e = of.get();
    if (e) got[self].set(got[self].get() + e->n.get());
    return e.has_value();
  }
  void thread(unsigned self) {
    if (self == 1) {
      get(1);
    } else if (self == 2) {
      get(2);
      get(2);
    } else {
      element::refuses = true;
      try {
        get(0);
      } catch (const element::refused&) {
        seen::back = true;
      }
      element::refuses = false;
      put(3);
    }
  }
  void after() {
    POLDER_MODEL_CHECK(got[1].get() != 0 || seen::late != 2 || !seen::knows);
    while (get(0)) {
    }
    POLDER_MODEL_CHECK(got[0].get() + got[1].get() + got[2].get() == 6);
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<counted>({.title = "collection: a box is counted", .how = search::complete, .floor = 20});
  ok &= passes<given_and_taken>({.title = "collection: boxes come and are taken", .executions = 10'000});
  ok &= passes<putting_back>({.title = "collection: an element comes back", .executions = 20'000});
  return ok ? 0 : 1;
}
