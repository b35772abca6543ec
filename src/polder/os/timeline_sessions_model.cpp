// timeline_sessions and timeline_kept_events under the model checker: who writes the file reads whole events of its session
// alone, while threads go on, and nobody writes over what is being read.
#include <polder/os/timeline_sessions.hpp>

#include <polder/os/timeline_kept_events.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::plain;
using polder::os::timeline::kept_events;

// An event is the number of its session.
struct buffer {
  static constexpr unsigned room = 3;
  buffer* next = nullptr;
  plain<bool> whole;
  kept_events kept;
  plain<std::uint32_t> events[room];
  atomic<std::uint32_t> lost_of;  // of this session, as is_of() says
  atomic<unsigned> whose;

  bool is_of(std::uint32_t session) const { return kept.is_of(session); }
  unsigned owner() const { return whose.load(order::relaxed); }
  bool take_over(unsigned from, unsigned to) {
    static_cast<void>(kept.count());
    return whose.cas(from, to, order::relaxed, order::relaxed);
  }
};

template <unsigned Threads>
struct world {
  polder::os::timeline::sessions<buffer> sessions;
  atomic<std::uint32_t> setting;  // as the session counts
  atomic<bool> on;
  plain<std::uint32_t> head;  // who holds it: the session, once more
  buffer buffers[Threads];
  buffer* own[Threads] = {};
  atomic<bool> gone[Threads];  // the kernel's word, which orders

  bool start() {
    if (!sessions.hold()) return false;
    const bool was_off = !on.load(order::relaxed);
    if (was_off) {
      head.set(head.get() + 1);
      setting.store(head.get(), order::relaxed);
      sessions.begin();
      on.store(true, order::relaxed);
    }
    return sessions.let_go(), was_off;
  }
  void stop() {
    if (!sessions.hold()) return;
    if (on.load(order::relaxed)) {
      on.store(false, order::relaxed);
      const std::uint32_t session = sessions.held();
      POLDER_MODEL_CHECK(head.get() == session);
      for (const buffer* b = sessions.first(); b != nullptr; b = b->next) write(*b, session);
    }
    sessions.let_go();
  }
  void write(const buffer& b, std::uint32_t session) {
    POLDER_MODEL_CHECK(b.whole.get());
    if (!b.is_of(session)) return;
    POLDER_MODEL_CHECK(b.lost_of.load(order::relaxed) == session);
    const std::uint32_t n = b.kept.count();
    for (std::uint32_t i = 0; i != n; ++i) POLDER_MODEL_CHECK(b.events[i].get() == session);
  }
  buffer* another(unsigned self) {
    const auto fits = [](const buffer&) { return true; };
    const auto is_gone = [this](unsigned owner) { return gone[owner].load(order::acquire); };
    if (buffer* const b = sessions.take_over(self, fits, is_gone)) return b;
    buffer& b = buffers[self];
    b.whose.store(self, order::relaxed);
    b.whole.set(true);
    sessions.list(&b);
    return &b;
  }
  void record(unsigned self) {
    if (!on.load(order::relaxed)) return;
    const std::uint32_t session = sessions.now();
    if (session == 0) return;
    buffer*& b = own[self];
    if (b == nullptr || !b->is_of(session)) {
      if (b == nullptr) b = another(self);
      POLDER_MODEL_CHECK(setting.load(order::relaxed) >= session);
      b->kept.empty();
      b->lost_of.store(session, order::relaxed);
      b->kept.begin(session);
    }
    const std::uint32_t n = b->kept.own_count();
    if (n == buffer::room) return;
    b->events[n].set(session);
    b->kept.add();
  }
};

// One stops, and starts the next; others record, in both.
template <unsigned Threads>
struct recording : rl::test_suite<recording<Threads>, int(Threads) + 1>, world<Threads> {
  void before() { POLDER_MODEL_CHECK(this->start()); }
  void thread(unsigned self) {
    if (self == Threads) {
      this->stop();
      this->start();
      this->stop();
    } else {
      this->record(self);
      this->record(self);
      if (self == 0) this->gone[0].store(true, order::release);
    }
  }
  void after() {
    unsigned made = 0, listed = 0;
    for (const buffer& b : this->buffers) made += b.whole.get();
    for (const buffer* b = this->sessions.first(); b != nullptr; b = b->next) ++listed;
    POLDER_MODEL_CHECK(listed == made);
  }
};

// Two start and stop.
struct controlled : rl::test_suite<controlled, 3>, world<1> {
  void thread(unsigned self) {
    if (self == 2) {
      record(0);
      record(0);
    } else {
      start();
      stop();
    }
  }
  void after() {
    stop();
    POLDER_MODEL_CHECK(start());
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<recording<1>>({.title = "timeline: recorded and written", .executions = 20'000});
  ok &= passes<recording<2>>({.title = "timeline: two record", .executions = 20'000});
  ok &= passes<controlled>({.title = "timeline: two start and stop", .executions = 20'000});
  return ok ? 0 : 1;
}
