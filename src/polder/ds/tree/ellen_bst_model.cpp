// ellen_bst under the model checker: who finds a flag helps with what is written in its record, no update is lost, and nothing
// is read that was freed.
#include <polder/ds/tree/ellen_bst.hpp>

#include <cstddef>
#include <initializer_list>

#include "explore.hpp"
#include "structures.hpp"
#include "tallied_map.hpp"

// Relacy replaces the other one alone; the vector of a walk calls this.
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace {

using polder::plain;
using polder::model::key;
using polder::model::none;

using keeping = polder::model::keeping<3, 1, 80>;
using regions = polder::model::regions<3, 1, 80>;

template <class R, unsigned Threads>
struct world : polder::model::tallied_map<polder::ds::ellen_bst<key, none, R>, typename R::domain, 7, Threads> {
  void starts_with(std::initializer_list<int> first) {
    for (const int k : first) this->put(0, k);
  }
};

// One writes a note before it removes a key; who finds it gone reads the note.
template <class R>
struct gone : rl::test_suite<gone<R>, 2>, world<R, 2> {
  plain<int> note;
  void before() { this->starts_with({1, 2}); }
  void thread(unsigned self) {
    if (self == 0) {
      note.set(1);
      this->drop(0, 1);
    } else if (!this->has(1) || this->put(1, 1)) {
      POLDER_MODEL_CHECK(note.get() == 1);
    }
  }
  void after() { this->comes_out(); }
};

// Both insert below one node.
template <class R>
struct one_place : rl::test_suite<one_place<R>, 2>, world<R, 2> {
  void before() { this->starts_with({3}); }
  void thread(unsigned self) {
    this->put(self, self == 0 ? 1 : 2);
    POLDER_MODEL_CHECK(this->has(3));
    this->drop(self, self == 0 ? 2 : 1);
  }
  void after() { this->comes_out(); }
};

// Two remove neighbours: the node that one would hang higher is what the other takes away.
template <class R>
struct neighbours : rl::test_suite<neighbours<R>, 2>, world<R, 2> {
  void before() { this->starts_with({1, 2, 3}); }
  void thread(unsigned self) {
    this->drop(self, self == 0 ? 1 : 2);
    POLDER_MODEL_CHECK(this->has(3));
  }
  void after() { this->comes_out(); }
};

// One inserts where two remove.
template <class R>
struct three : rl::test_suite<three<R>, 3>, world<R, 3> {
  void before() { this->starts_with({2, 4, 6}); }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 3);
      this->drop(0, 2);
    } else if (self == 1) {
      this->drop(1, 4);
      this->put(1, 5);
    } else {
      this->drop(2, 2);
      POLDER_MODEL_CHECK(this->has(6));
    }
  }
  void after() { this->comes_out(); }
};

// Regions that see how far each thread is.
struct staged : regions {
  static inline struct of_thread {
    unsigned records;  // that it was about to make
    bool let_go, through;
  } threads[3];
  static of_thread* mine() {
    const int self = rl::ctx().current_thread();
    return self < 0 || threads[self].through ? nullptr : &threads[self];
  }
  template <class Reached>
  static void wait(Reached&& reached) {
    while (!reached()) rl::yield(1, polder::model::info(polder::model::place::current()));
  }
  static void before_a_record();
  static void before_a_leaf_is_retired();
  static void a_record_is_retired();

  template <unsigned N>
  struct guard : regions::guard<N> {
    using base = regions::guard<N>;
    using base::base;
    template <class T>
    static constexpr bool is_record = requires(T t) { t.p_update; };
    template <class T, class... Arguments>
    T* make(Arguments&&... arguments) {
      if constexpr (is_record<T>) before_a_record();
      return base::template make<T>(std::forward<Arguments>(arguments)...);
    }
    template <class T>
    void retire(const T* node) {
      if constexpr (!is_record<T>) before_a_leaf_is_retired();
      base::retire(node);
      if constexpr (is_record<T>) a_record_is_retired();
    }
  };
};

// 0 writes over the record that 1 expects at its p, and stands still. 1, whose gp has changed, is the last to take its name
// from that record. 2 begins when 1 has retired it, and must not find it where it was; it goes on when it has been freed.
struct last_name : rl::test_suite<last_name, 3>, world<staged, 3> {
  void before() {
    for (auto& t : staged::threads) t = {0, false, true};
    starts_with({4, 2, 6, 5});
    for (auto& t : staged::threads) t.through = false;
  }
  void thread(unsigned self) {
    if (self == 0) {
      staged::wait([] { return staged::threads[1].records != 0; });
      put(0, 1);
      put(0, 7);
    } else if (self == 1) {
      drop(1, 6);
    } else {
      staged::wait([] { return staged::threads[1].let_go || staged::threads[1].through; });
      drop(2, 6);
    }
    staged::threads[self].through = true;
  }
  void after() { comes_out(); }
};

void staged::before_a_record() {
  of_thread* const t = mine();
  if (t == nullptr) return;
  ++t->records;
  if (t == &threads[1] && t->records == 1) wait([] { return threads[0].records >= 2; });
  if (t == &threads[2] && t->records == 1) wait([] { return threads[0].through && threads[1].through; });
}
void staged::before_a_leaf_is_retired() {
  if (mine() == &threads[0] && threads[0].records >= 2)
    wait([] { return threads[2].records != 0 || threads[2].through; });
}
void staged::a_record_is_retired() {
  if (mine() != &threads[1]) return;
  threads[1].let_go = true;
  wait([] { return threads[0].through; });
}

template <class R>
bool all(const char* note, const char* place, const char* near, const char* of_three) {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<gone<R>>({.title = note, .executions = 10'000});
  ok &= passes<one_place<R>>({.title = place, .executions = 20'000});
  ok &= passes<neighbours<R>>({.title = near, .executions = 20'000});
  ok &= passes<three<R>>({.title = of_three, .executions = 20'000});
  return ok;
}

}  // namespace

int main() {
  bool ok = true;
  ok &= all<keeping>("bst: gone", "bst: one place", "bst: neighbours", "bst: three threads");
  ok &= all<regions>("bst, regions: gone", "bst, regions: one place", "bst, regions: neighbours",
                     "bst, regions: three threads");
  ok &= polder::model::passes<last_name>({.title = "bst, regions: the last name", .executions = 5'000});
  return ok ? 0 : 1;
}
