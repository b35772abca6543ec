// membership under the model checker: who goes through the members finds them whole, and no member and no row is lost.
#include <polder/smr/membership.hpp>

#include <cstddef>
#include <optional>

#include "explore.hpp"

// Relacy has operators new and delete of its own, but for these.
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
void operator delete[](void* p, std::size_t) noexcept { operator delete[](p); }

namespace {

using polder::plain;
using number = polder::smr::thread_slot::number;

// As an ordinary word, but watched.
template <class T>
struct word {
  plain<T> value;
  operator T() const { return value.get(); }
  word& operator=(T v) { return value.set(v), *this; }
};

struct member {
  polder::smr::seat_gate gate;
  member* next = nullptr;
  word<::number> number;
  word<bool> whole;
  member() { whole = true; }
};

struct world {
  static constexpr ::number near = 2;  // numbers begin at 1, and from here on have their places in rows
  std::optional<polder::smr::membership<member, near>> all;
  plain<member*> seats[3];

  void open() { all.emplace(); }
  void join(unsigned self, ::number n) {
    POLDER_MODEL_CHECK(all->find(n) == nullptr);
    member& mine = all->join(n);
    POLDER_MODEL_CHECK(mine.number == n && all->find(n) == &mine);
    seats[self].set(&mine);
  }
  unsigned count() {
    unsigned n = 0;
    for (const member* m = all->first(); m != nullptr; m = m->next) {
      POLDER_MODEL_CHECK(m->whole && m->number != 0);
      ++n;
    }
    return n;
  }
  // In the execution's last thread, as members and rows are the checker's.
  void close(unsigned members) {
    POLDER_MODEL_CHECK(count() == members);
    all.reset();
  }
};

// Two come, one looks.
struct two_come : rl::test_suite<two_come, 3>, world {
  void before() { open(); }
  void thread(unsigned self) {
    if (self == 2) count();
    else join(self, 1 + self);
  }
  void after() { close(2); }
};

// Two that come need the same row.
struct one_row : rl::test_suite<one_row, 2>, world {
  void before() { open(); }
  void thread(unsigned self) { join(self, near + self); }
  void after() {
    for (const unsigned self : {0u, 1u}) POLDER_MODEL_CHECK(all->find(near + self) == seats[self].get());
    close(2);
  }
};

// A thread ends, and the next of its number has its seat.
struct one_seat : rl::test_suite<one_seat, 2>, world {
  void before() {
    open();
    join(0, near);
    seats[0].get()->gate.disown();
    all->forget(near);
  }
  void thread(unsigned self) {
    if (self == 0) join(0, near);
    else join(1, near + 1);
  }
  void after() { close(2); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<two_come>({.title = "membership: two come, one looks", .executions = 10'000});
  ok &= passes<one_row>({.title = "membership: one row", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<one_seat>({.title = "membership: one seat", .how = search::bounded, .floor = 20, .switches = 2});
  return ok ? 0 : 1;
}
