// slot_seat under the model checker: rows are whole for whoever scans, and what guards take over from one another, in whatever
// order they have their slots, each scan sees somewhere.
#include "explore.hpp"

#undef sched_yield  // Relacy's; who waits for guards calls the system's, and no model does
#include <polder/smr/slot_seat.hpp>

#include <cstddef>
#include <new>
#include <optional>

// Relacy has operators new and delete of its own, but for these.
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return operator new(n); }
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
void operator delete[](void* p, std::size_t) noexcept { operator delete[](p); }

namespace {

using polder::atomic;
using polder::order;

// As a hazard slot: what is here now was stored after what was here before had been read for the last time.
struct slot {
  atomic<int> word;
  bool is_looked_at = true;  // by a scan; the others are nobody's, and take time
  void publish(int n) { word.store(n, order::release); }
  void clear() { publish(0); }
};

struct world {
  static constexpr unsigned near = polder::smr::slot_seat<slot>::near;
  std::optional<polder::smr::slot_seat<slot>> seat;

  void open() { seat.emplace(); }
  void close() { seat.reset(); }  // in the execution's last thread, as the rows are the checker's
  slot* take(unsigned n) {
    return seat->take(n, [](unsigned) {});
  }
  bool is_seen(int n) {
    bool seen = false;
    seat->each([&](const slot& s) {
      if (s.is_looked_at && s.word.load(order::acquire) == n) seen = true;
    });
    return seen;
  }
};

// The owner needs two rows while another scans.
struct grows : rl::test_suite<grows, 2>, world {
  void before() {
    open();
    take(near)->publish(1);
  }
  void thread(unsigned self) {
    if (self == 0) {
      take(near)->publish(2);
      take(near)->publish(3);
    } else {
      POLDER_MODEL_CHECK(is_seen(1));
    }
  }
  void after() {
    POLDER_MODEL_CHECK(is_seen(2) && is_seen(3));
    close();
  }
};

// Three guards, of which the youngest has the first row and the oldest the last: what the oldest keeps is taken over by the next,
// and from that by the youngest.
struct taken_over : rl::test_suite<taken_over, 2>, world {
  slot *oldest, *next, *youngest;

  void before() {
    open();
    take(near);
    slot* const first = take(near);
    slot* const second = take(near + 1);
    oldest = take(near);
    seat->each([](const slot& s) { const_cast<slot&>(s).is_looked_at = false; });
    seat->give(first, near);
    seat->give(second, near + 1);
    next = take(near + 1);
    youngest = take(near);
    POLDER_MODEL_CHECK(next == second && youngest == first);
    for (slot* s : {oldest, next, youngest}) s->is_looked_at = true;
    oldest->publish(1);
  }
  void hand(slot& from, slot& to) {
    to.publish(1);
    seat->taken_over();
    from.publish(2);
  }
  void thread(unsigned self) {
    if (self == 0) {
      hand(*oldest, *next);
      hand(*next, *youngest);
    } else {
      POLDER_MODEL_CHECK(is_seen(1));
    }
  }
  void after() { close(); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<grows>({.title = "slot_seat: grows", .executions = 4'000});
  ok &= passes<taken_over>({.title = "slot_seat: taken over", .executions = 20'000});
  return ok ? 0 : 1;
}
