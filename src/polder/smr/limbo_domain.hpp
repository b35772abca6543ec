#pragma once
// limbo_domain — the domain of every scheme that keeps retired objects in bags until they are safe.
//
// The scheme is Core: how a thread says that it is inside, and which of a member's objects are safe. Here is the rest:
// seats for threads, bags, drains, orphans, misuse, fork.
//
// A thread that ends leaves its bags in its seat; whoever steps next takes them over, and so does drain(). Opening a
// guard is where work is done: the thread is inside, and holds nothing of the structure yet. A scheme that keeps a bound
// works in retire() too, when its member is full: one guard may retire any number of objects.
//
// Core:
//   bags                                   what a member has retired: limbo.hpp, sieve.hpp. put, adopt, surrender, …
//   class seat { inside(); vacate(); }     the words that others read
//   struct turn                            the member's own
//   fences                                 heavy and light side
//   enter(m), leave(m)                     announce
//   tag(m)                                 of what is retired now
//   due(m), full(m, bytes) -> bool         in each operation, and after each retire of so many: is step() to be called?
//   step(members, m, free)                 looks at others, maybe ends a grace period; free() frees what became safe
//   ripen(members, m, to, now)             what is safe goes to the bag `to`, or, for want of memory, through now()
//   tries                                  how often hurry() helps
//   adoptable(m, newest)                   may m, inside, take over bags whose youngest tag is this?
//   hurry(members, m)                      m, inside, does all it can to end a grace period now
//   renew(m)                               m, inside and holding nothing, says that it holds nothing
//   while_freeing(members, m, n)           after the nth free of a batch, m inside and holding nothing
//   synchronize(members)                   waits for every guard that is open; the caller is outside
//   before_collecting(members)             the caller, outside, is about to take over everybody's bags
//   outlast(members)                       outside: waits for who may hold what was surrendered, if the scheme can say;
//   settle(members, m, old, to, now)       inside, afterwards: what is safe of a surrendered parcel goes as by ripen()
//   press(members)                         goes as far as the others let it, so that who is in the way can be told
//   obstacle(m) -> word                    0: m is in nobody's way; else the same until it moves on
//
// grace_periods (limbo.hpp) and sifted (sieve.hpp) have what is alike in two families of them.
#include <sched.h>

#include <cstdint>
#include <new>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/os/clock.hpp>
#include <polder/os/futex.hpp>
#include <polder/os/thread_name.hpp>
#include <polder/os/timeline.hpp>
#include <polder/smr/background.hpp>
#include <polder/smr/drain.hpp>
#include <polder/smr/free_watch.hpp>
#include <polder/smr/ledger.hpp>
#include <polder/smr/limbo.hpp>
#include <polder/smr/membership.hpp>
#include <polder/smr/misuse.hpp>
#include <polder/smr/pool.hpp>
#include <polder/smr/reclaimer.hpp>
#include <polder/smr/stall.hpp>

// Polder's own, if it is the process's heap (include/polder.h).
extern "C" [[gnu::weak]] void polder_free_batch(void** blocks, std::size_t count) noexcept;

namespace polder::smr {

// What a domain does when a member's unreclaimed bytes pass the bound: it ends a grace period if the others let it, and
// frees all that is safe, instead of what its drain would; then it calls, if there is whom to call.
struct bound_policy {
  std::uint64_t bytes = ~std::uint64_t{0};                      // of one member
  void (*passed)(void* context, const garbage& now) = nullptr;  // by the thread that passed it, inside a guard
  void (*stalled)(void* context, const stall& by) = nullptr;    // the same, of who has stood in the way for longest
  void* context = nullptr;
};

template <class Core>
class limbo_domain : thread_watcher {
 public:
  struct options {
    drain_policy drain = Core::usual_drain;
    typename Core::options scheme{};
    bound_policy bound{};
    free_watch* watch = nullptr;  // lives longer than the domain
  };

  struct member {
    explicit member(const limbo_domain& d) : turn(d.core_) {}

    // What others read.
    alignas(false_sharing_range) typename Core::seat seat;
    // What the thread alone touches, or who claimed the seat.
    alignas(false_sharing_range) typename Core::turn turn;
    unsigned depth = 0;
    bool fleeting = false;  // nobody tells of the thread's end, so it leaves with each guard
    bool stepping = false;
    seat_gate gate;
    typename Core::bags bags;
    pool memory;
    thread_slot::number number = thread_slot::none;
    member* next = nullptr;
    // The kernel's number of the thread. Written by the thread when it takes the seat; read by who looks for stalls.
    atomic<std::uint32_t> thread;
    standing stood;  // under the lock of stalls
  };

  limbo_domain() : limbo_domain(options{}) {}
  explicit limbo_domain(const options& chosen)
      : core_(chosen.scheme), options_(chosen), background_(ledger_, chosen.watch) {
    watch();
  }

  virtual ~limbo_domain() {
    unwatch();
    if (const unsigned open = members_inside())
      misused(Core::info.name, "a domain was destroyed while threads hold guards of it: ", open, "");
#if POLDER_CHECK_LEVEL > 0
    if (const std::uint64_t left = statistics().unreclaimed())
      misused(Core::info.name, "a domain was destroyed with retired objects, drain() comes first: ", left, "");
#endif
    // No guard is open, so everything is safe; deleters may retire more.
    for (bool some = true; some;) {
      some = false;
      for (member* m = members_.first(); m != nullptr; m = m->next) {
        m->bags.take_back(collected_);
        m->bags.all_are_safe([&](const entry& e) { free(*m, e); });
        some = some || !m->bags.empty();
        free_all(*m);
      }
    }
  }

  // ---- guards -----------------------------------------------------------------------------------------------------

  [[gnu::always_inline]] member& open() {
    member* m = members_.find(thread_slot::mine());
    if (m == nullptr) [[unlikely]]
      m = &join();
    if (m->depth == 0) {
      core_.enter(*m);
      if (!m->gate.still_mine()) [[unlikely]]
        m = &elsewhere(*m);
      m->depth = 1;
      if (core_.due(*m)) [[unlikely]]
        step(*m);
      if (!m->bags.safe.empty()) [[unlikely]]
        drain_some(*m);
    } else {
      ++m->depth;
    }
    return *m;
  }

  [[gnu::always_inline]] void close(member& m) noexcept {
    if (--m.depth != 0) return;
    core_.leave(m);
    if (m.fleeting) [[unlikely]]
      thread_slot::give_back();
  }

  // Of the calling thread's latest guard.
  void close_mine() noexcept {
    member* const m = members_.find(thread_slot::mine());
    if (m == nullptr || m->depth == 0)
      misused(Core::info.name, "a guard was closed that this thread does not hold");
    close(*m);
  }

  // Inside a guard.
  void retire(member& m, const typename Core::bags::record& what) {
    if (!ledger_.enter(what.object)) misused(Core::info.name, "an object was retired twice");
    while (!m.bags.put(what, core_.tag(m))) [[unlikely]]
      make_room(m);
    if (core_.full(m, what.weight())) [[unlikely]]
      step(m);
    if (options_.drain.how == drain_policy::way::adaptive && !m.bags.safe.empty()) {
      free_some(m, 2);
    }
  }

  template <class T, class... Arguments>
  T* make(member& m, Arguments&&... arguments) {
    if constexpr (made_kind<T>.heap_block) {
      if (void* const memory = m.memory.take(made_kind<T>)) {
        struct keeper {
          member& m;
          void* memory;
          ~keeper() {
            if (memory != nullptr && !m.memory.give(made_kind<T>, memory)) ::operator delete(memory);
          }
        } keep{m, memory};
        T* const made = new (memory) T(std::forward<Arguments>(arguments)...);
        keep.memory = nullptr;
        return made;
      }
    }
    return new T(std::forward<Arguments>(arguments)...);
  }

  // ---- anybody, outside a guard of this domain ----------------------------------------------------------------------

  // Waits for every guard that is open now.
  void synchronize() {
    outside("synchronize");
    core_.synchronize(members_);
  }

  // Waits until everything that was retired before has been reclaimed, by whatever thread.
  void drain() {
    outside("drain");
    const os::holding one_at_a_time(drain_lock_);
    background_.finish();  // what its deleters retired lies in its thread's seat then
    core_.before_collecting(members_);
    collect();
    member& mine = here();
    const bool was = std::exchange(mine.stepping, true);  // so that nothing of this goes to the background
    for (bool empty = false; !empty;) {
      {
        member& m = open();
        m.bags.surrender(collected_);
        close(m);
      }
      core_.outlast(members_);
      member& m = open();
      core_.settle(members_, m, collected_, m.bags.safe, [&](const entry& e) { free(m, e); });
      free_all(m);
      const bool held = !collected_.empty();
      m.bags.take_back(collected_);
      empty = m.bags.empty();
      close(m);
      if (held) sched_yield();
    }
    mine.stepping = was;
    background_.finish();
  }

  // The calling thread goes, as if it had ended: it keeps nobody waiting, and somebody else frees what it retired.
  void detach() noexcept {
    if (member* const m = members_.find(thread_slot::mine())) part(*m);
  }

  garbage statistics() const noexcept {
    garbage all;
    for (member* m = members_.first(); m != nullptr; m = m->next) m->bags.count.add_to(all);
    background_.count().add_to(all);
    return all;
  }

  // Tells f(stall) of each other thread that has kept anybody from reclaiming for so many milliseconds at least: inside a
  // guard, or where the scheme waits for it. Returns how many. See stall.hpp: one look begins to count, the next tells.
  template <class F>
  unsigned stalls(std::uint64_t older_than, F&& f) {
    core_.press(members_);
    const os::holding one_at_a_time(stalls_lock_);
    unsigned n = 0;
    each_obstacle([&](const member& m, const stall& s) {
      if (s.milliseconds < older_than) return;
      ++n;
      f(in_full(m, s));
    });
    return n;
  }

  // The one that has stood for longest.
  stall longest_stall() {
    core_.press(members_);
    const os::holding one_at_a_time(stalls_lock_);
    return oldest_obstacle();
  }

  // f(garbage) of each seat: what its thread retired and reclaimed. What was retired in one seat may be reclaimed from
  // another, when its thread has left; and by the domain's own thread, which has none.
  template <class F>
  void each_member(F&& f) const {
    for (member* m = members_.first(); m != nullptr; m = m->next) {
      garbage mine;
      m->bags.count.add_to(mine);
      f(mine);
    }
  }

  const Core& scheme() const noexcept { return core_; }
  Core& scheme() noexcept { return core_; }
  const membership<member>& members() const noexcept { return members_; }

 private:
  using entry = retired_object;

  member& here() {
    member* const m = members_.find(thread_slot::mine());
    return m != nullptr ? *m : join();
  }

  POLDER_NOINLINE member& join() {
    member& m = members_.join(thread_slot::mine(), *this);
    m.fleeting = thread_slot::fleeting();
    m.thread.store(os::own_thread_number(), order::relaxed);
    return m;
  }

  // The seat was claimed while its thread was outside.
  POLDER_NOINLINE member& elsewhere(member& was) {
    member* m = &was;
    for (;;) {
      core_.leave(*m);
      if (m->gate.walk_away()) {
        members_.forget(thread_slot::mine());
        m = &join();
      }
      core_.enter(*m);
      if (m->gate.still_mine()) return *m;
    }
  }

  POLDER_NOINLINE void step(member& m) {
    if (m.stepping) return;  // a deleter retires
    m.stepping = true;
    core_.step(members_, m, [&] { free_ripe(m); });
    free_ripe(m);
    if (orphans_.load(order::relaxed)) adopt_some(m);
    if (over_bound(m)) [[unlikely]] {
      for (unsigned n = 0; n != Core::tries && over_bound(m); ++n) {
        core_.hurry(members_, m);
        core_.renew(m);
        core_.ripen(members_, m, m.bags.safe, [&](const entry& e) { free(m, e); });
        free_all(m);
      }
      if (options_.bound.passed != nullptr) options_.bound.passed(options_.bound.context, statistics());
      if (options_.bound.stalled != nullptr) tell_who_stalls();
    }
    m.stepping = false;
  }

  bool over_bound(const member& m) const noexcept { return m.bags.weight() > options_.bound.bytes; }

  // Who retires does not wait for another that looks.
  POLDER_NOINLINE void tell_who_stalls() {
    stall by;
    if (!stalls_lock_.try_lock(os::thread_mark())) return;
    by = oldest_obstacle();
    os::unlock(stalls_lock_);
    if (by) options_.bound.stalled(options_.bound.context, by);
  }

  // Under the lock of stalls. Not the calling thread: it runs.
  template <class F>
  void each_obstacle(F&& f) {
    const std::uint64_t now = os::coarse_milliseconds();
    const member* const mine = members_.find(thread_slot::mine());
    for (member* m = members_.first(); m != nullptr; m = m->next) {
      const std::uint64_t word = m == mine ? 0 : core_.obstacle(*m);
      if (word == 0) {
        m->stood.moved_on();
        continue;
      }
      const std::uint32_t thread = m->thread.load(order::relaxed);
      stall s;
      s.thread = thread;
      s.milliseconds = m->stood.seen(thread, word, now);
      f(*m, s);
    }
  }

  static stall in_full(const member& m, stall s) noexcept {
    s.inside = m.seat.inside();
    s.name = os::name_of_thread(s.thread);
    return s;
  }

  stall oldest_obstacle() {
    stall oldest;
    const member* who = nullptr;
    each_obstacle([&](const member& m, const stall& s) {
      if (who != nullptr && s.milliseconds <= oldest.milliseconds) return;
      oldest = s;
      who = &m;
    });
    return who == nullptr ? oldest : in_full(*who, oldest);
  }

  // What became safe since the last time goes the way of the drain.
  void free_ripe(member& m) {
    const std::size_t before = m.bags.safe.size();
    const auto now = [&](const entry& e) { free(m, e); };
    if (options_.drain.at_once_from == drain_policy::never) {
      core_.ripen(members_, m, m.bags.safe, now);
    } else {
      bag<entry> ripe;
      core_.ripen(members_, m, ripe, now);
      ripe.sift(
          m.bags.stock, [&](const entry& e) { return e.weight() < options_.drain.at_once_from; },
          [&](const entry& e) { free(m, e); });
      m.bags.safe.splice(ripe);
    }
    if (m.bags.safe.size() == before) return;
    const auto label = std::uint32_t(core_.tag(m));
    os::timeline::mark(os::timeline::kind::unreclaimed, label, m.bags.waiting() + m.bags.safe.size());
    const os::timeline::span batch{os::timeline::kind::batch_free, label, m.bags.safe.size()};
    using way = drain_policy::way;
    switch (options_.drain.how) {
      case way::at_once: free_all(m); break;
      case way::pooled: pool_all(m); break;
      case way::to_allocator: free_batches(m); break;
      case way::background:
        if (!background_.hand_over(m.bags.safe)) free_all(m);
        break;
      case way::amortized:
      case way::adaptive:
      case way::catch_up: break;
    }
  }

  POLDER_NOINLINE void drain_some(member& m) {
    const std::size_t before = m.bags.safe.size();
    os::timeline::span some{os::timeline::kind::single_free, std::uint32_t(core_.tag(m))};
    free_a_few(m);
    some.count(before - m.bags.safe.size());
  }

  void free_a_few(member& m) {
    using way = drain_policy::way;
    switch (options_.drain.how) {
      case way::adaptive: free_some(m, 1); break;
      case way::catch_up:
        if (m.bags.safe.size() > options_.drain.catch_up_above)
          free_some(m, m.bags.safe.size() - options_.drain.catch_up_above / 2);
        [[fallthrough]];
      case way::amortized: free_some(m, options_.drain.an_operation); break;
      default: free_all(m); break;
    }
  }

  void free(member& m, const entry& e) {
    m.bags.count.reclaimed(e.weight());
    ledger_.strike(e.object);
    free_watch::see(options_.watch, 1, [&] { e.of->reclaim(e.object); });
  }

  void free_some(member& m, std::size_t n) {
    for (; n != 0 && !m.bags.safe.empty(); --n) free(m, m.bags.safe.pop(m.bags.stock));
    m.bags.safe.tidy(m.bags.stock);
  }

  void free_all(member& m) {
    for (unsigned n = 0; !m.bags.safe.empty(); ++n) {
      free(m, m.bags.safe.pop(m.bags.stock));
      core_.while_freeing(members_, m, n);
    }
    m.bags.safe.tidy(m.bags.stock);
  }

  void pool_all(member& m) {
    while (!m.bags.safe.empty()) {
      const entry e = m.bags.safe.pop(m.bags.stock);
      if (!e.of->heap_block) {
        free(m, e);
        continue;
      }
      m.bags.count.reclaimed(e.weight());
      ledger_.strike(e.object);
      if (e.of->destroy != nullptr) e.of->destroy(e.object);
      if (!m.memory.give(*e.of, e.object)) free_watch::see(options_.watch, 1, [&] { ::operator delete(e.object); });
    }
    m.bags.safe.tidy(m.bags.stock);
  }

  void free_batches(member& m) {
    if (polder_free_batch == nullptr) return free_all(m);
    void* blocks[chunk<entry>::room];
    while (!m.bags.safe.empty()) {
      std::size_t n = 0;
      while (n != std::size(blocks) && !m.bags.safe.empty()) {
        const entry e = m.bags.safe.pop(m.bags.stock);
        if (!e.of->heap_block) {
          free(m, e);
          continue;
        }
        m.bags.count.reclaimed(e.weight());
        ledger_.strike(e.object);
        if (e.of->destroy != nullptr) e.of->destroy(e.object);
        blocks[n++] = e.object;
      }
      if (n != 0) free_watch::see(options_.watch, n, [&] { polder_free_batch(blocks, n); });
    }
    m.bags.safe.tidy(m.bags.stock);
  }

  // There is no memory for the record of a retired object. What is safe, or can be made so, is freed, which empties chunks.
  POLDER_NOINLINE void make_room(member& m) {
    core_.press(members_);
    const std::size_t held = m.bags.waiting() + m.bags.safe.size();
    if (m.bags.safe.empty()) free_ripe(m);
    free_all(m);
    if (m.bags.waiting() + m.bags.safe.size() == held)
      misused(Core::info.name,
              "out of memory: no room for the record of a retired object, and open guards forbid to free any");
  }

  // Takes over the bags of seats whose threads have ended.
  POLDER_NOINLINE void adopt_some(member& mine) {
    orphans_.store(false, order::relaxed);
    for (member* m = members_.first(); m != nullptr; m = m->next) {
      if (m->gate.state() != seat_state::free || !m->gate.try_take()) continue;
      if (m->bags.empty()) {
      } else if (core_.adoptable(mine, m->bags.newest())) {
        mine.bags.adopt(m->bags, core_.tag(mine));
      } else {
        orphans_.store(true, order::relaxed);
      }
      m->gate.end();
    }
  }

  // Everybody's bags become the caller's. It is outside; nobody else collects.
  void collect() {
    member* const mine = &here();
    for (member* m = members_.first(); m != nullptr; m = m->next) {
      if (m == mine) continue;
      bool orphan = false;
      while (!(orphan = m->gate.try_take()) && !m->gate.try_claim()) sched_yield();
      if (!orphan) {
        while (!core_.fences.heavy()) sched_yield();
        while (m->seat.inside()) sched_yield();
      }
      for (bool taken = m->bags.empty(); !taken;) {
        member& inside = open();
        if (core_.adoptable(inside, m->bags.newest())) {
          inside.bags.adopt(m->bags, core_.tag(inside));
          taken = true;
        }
        close(inside);
        if (!taken) sched_yield();
      }
      m->gate.end();
    }
  }

  // The calling thread has no guard open, and needs its seat no more.
  void part(member& m) noexcept {
    if (m.depth != 0) return;  // a guard that was never closed, as by longjmp: what it protects stays
    members_.forget(m.number);
    m.seat.vacate();
    m.gate.disown();
    orphans_.store(true, order::relaxed);
  }

  void thread_ended(thread_slot::number who) noexcept override {
    if (member* const m = members_.find(who)) part(*m);
  }

  void forked(thread_slot::number survivor) noexcept override {
    new (&drain_lock_) owned_lock;
    new (&stalls_lock_) owned_lock;
    ledger_.after_fork();
    for (member* m = members_.first(); m != nullptr; m = m->next) {
      if (m->number == survivor && members_.find(survivor) == m) {
        m->gate.keep_after_fork();
        m->thread.store(os::own_thread_number(), order::relaxed);
        background_.after_fork(m->bags.safe);
        continue;
      }
      m->seat.vacate();
      members_.forget(m->number);
      m->depth = 0;
      m->stepping = false;
      m->gate.abandon_after_fork();
    }
    orphans_.store(true, order::relaxed);
  }

  unsigned members_inside() const noexcept {
    unsigned n = 0;
    for (member* m = members_.first(); m != nullptr; m = m->next) n += m->seat.inside();
    return n;
  }

  void outside(std::string_view what) const {
    const member* const m = members_.find(thread_slot::mine());
    if (m != nullptr && m->depth != 0) {
      if (what == "drain")
        misused(Core::info.name, "drain() inside a guard of the same domain would wait for itself");
      misused(Core::info.name, "synchronize() inside a guard of the same domain would wait for itself");
    }
  }

  Core core_;
  const options options_;
  ledger ledger_;
  membership<member> members_;
  background background_;
  owned_lock drain_lock_;
  owned_lock stalls_lock_;
  typename Core::bags::parcel collected_;  // under the drain lock: waits for guards to close
  // orphans_: there may be seats without a thread that hold bags. A hint: written by who leaves or adopts, read by who
  // steps.
  atomic<bool> orphans_;
};

}  // namespace polder::smr
