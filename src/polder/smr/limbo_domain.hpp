#pragma once
// limbo_domain — the domain of every scheme that keeps retired objects in bags until they are safe.
//
// The scheme is Core: how a thread says that it is inside, and which of a member's objects are safe. Here is the rest:
// seats for threads, bags, drains, orphans, misuse, fork.
//
// A thread that ends leaves its bags in its seat; whoever steps next takes them over, and so does drain(). Opening a
// guard is where work is done: the thread is inside, and holds nothing of the structure yet. A scheme that keeps a bound
// works in retire() too, when its member is full: one guard may retire any number of objects. But it calls nobody there, who
// might throw while the structure has an element in hand: that is owed until the thread's next guard (member::owing).
//
// Core:
//   bags                                   what a member has retired: limbo.hpp, sieve.hpp. put, adopt, surrender, …
//   class seat { inside(); vacate(); }     the words that others read
//   struct turn                            the member's own
//   fences                                 heavy and light side
//   enter(m), leave(m)                     announce
//   tag(m)                                 of what is retired now
//   due(m), full(m, bytes) -> bool         in each operation, and after each retire of so many: is step() to be called?
//   over_bound(m) -> bool                  after the retire that passed the bound of bytes: may step() be called there? If not,
//                                          due() is true in the next operation
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
//   settle(members, m, old, to, now)       inside, afterwards: what is safe of a surrendered parcel goes as by ripen(). Is there
//                                          anything left whose holder is to be waited for?
//   press(members)                         goes as far as the others let it, so that who is in the way can be told
//   after_fork()                           in a fork's child: who is no member yet never becomes one
//   obstacle(m) -> word                    0: m is in nobody's way; else the same until it moves on
//
// grace_periods (limbo.hpp) and sifted (sieve.hpp) have what is alike in two families of them.
#include <sched.h>

#include <cstddef>
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
#include <polder/smr/orphan_hint.hpp>
#include <polder/smr/pool.hpp>
#include <polder/smr/reclaimer.hpp>
#include <polder/smr/stall.hpp>

namespace polder::smr {

// What a domain does when a member's unreclaimed bytes pass the bound: it ends a grace period if the others let it, and
// frees all that is safe, instead of what its drain would. A scheme that may free inside a guard does so in the retire()
// that passes it, others with the thread's next guard; where it must keep much, again after half as many bytes more, so
// that retire() looks at each object O(1) times, amortised (member::room). Then it calls, if there is whom to call: at once
// where a guard just opens, and where retire() found it, when its thread opens the next guard inside no other. What that
// throws comes out of that guard's constructor, which then opened none, or out of drain(), which then has not done its
// work; never out of retire(). If the thread ends first, who takes its seat calls.
struct bound_policy {
  std::uint64_t bytes = ~std::uint64_t{0};                      // of one member
  void (*passed)(void* context, const garbage& now) = nullptr;  // by the thread that passed it, inside a new guard
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
    explicit member(const limbo_domain& d) : turn(d.core_), room(d.options_.bound.bytes) {}

    // What others read.
    alignas(false_sharing_range) typename Core::seat seat;
    // What the thread alone touches, or who claimed the seat.
    alignas(false_sharing_range) typename Core::turn turn;
    // How many guards are open; or `owing`: none, and the next one to open owes a call to who is told of the bound. That is
    // the number that one more makes 0, so opening looks for it only where it would find another guard open, or in the seat
    // that it moves to.
    static constexpr unsigned owing = ~0u;
    unsigned depth = 0;
    bool is_inside() const noexcept { return depth != 0 && depth != owing; }
    bool fleeting = false;    // nobody tells of the thread's end, so it leaves with each guard
    bool owes = false;        // a call, when it is inside; outside, depth says so
    bool unfinished = false;  // fleeting or owes: there is something to do when the last guard closes
    bool stepping = false;
    bool freeing = false;  // one of its objects, whose deleter runs
    std::size_t owed = 0;  // adaptive: how many more to free for what deleters retired
    std::uint64_t room;    // bytes that may be retired before the bound is looked at, or less
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
  explicit limbo_domain(const options& chosen);
  virtual ~limbo_domain();

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
        step_or_close(*m);
      if (!m->bags.safe.empty()) [[unlikely]]
        drain_some(*m);
    } else if (++m->depth == 0) [[unlikely]] {
      m = &open_and_tell();
    }
    return *m;
  }

  [[gnu::always_inline]] void close(member& m) noexcept {
    if (--m.depth != 0) return;
    core_.leave(m);
    if (m.unfinished) [[unlikely]]
      finish(m);
  }

  // Of the calling thread's latest guard.
  void close_mine() noexcept;

  // Inside a guard.
  void retire(member& m, const typename Core::bags::record& what) {
    if (!ledger_.enter(what)) misused(Core::info.name, "an object was retired twice");
    while (!m.bags.put(what, core_.tag(m))) [[unlikely]]
      make_room(m);
    const std::size_t bytes = what.weight();
    if (core_.full(m, bytes)) [[unlikely]]
      step(m);
    else if (__builtin_sub_overflow(m.room, bytes, &m.room)) [[unlikely]] look_at_bound(m);
    if (options_.drain.how == drain_policy::way::adaptive && !m.bags.safe.empty()) keep_pace(m);
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
  void synchronize();

  // Waits until everything that was retired before has been reclaimed, by whatever thread.
  void drain();

  // The calling thread goes, as if it had ended: it keeps nobody waiting, and somebody else frees what it retired.
  void detach() noexcept;

  garbage statistics() const noexcept;

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
  stall longest_stall();

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

  // Its thread looks at others, or drains: it does not begin to look within this, in a deleter's guard or in its own.
  class while_stepping {
   public:
    explicit while_stepping(member& m) noexcept : m_(m), was_(std::exchange(m.stepping, true)) {}
    ~while_stepping() { m_.stepping = was_; }
    while_stepping(const while_stepping&) = delete;
    while_stepping& operator=(const while_stepping&) = delete;

   private:
    member& m_;
    const bool was_;
  };

  // Under the lock of stalls. Not the calling thread: it runs.
  template <class F>
  void each_obstacle(F&& f) {
    const std::uint64_t now = os::coarse_milliseconds();
    const member* const mine = members_.find(thread_slot::held());
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

  // The slow paths: limbo_domain_slow.hpp. A scheme includes both, as limbo_domain_whole.hpp.
  member& here();
  POLDER_NOINLINE member& join();
  POLDER_NOINLINE member& elsewhere(member& was);
  POLDER_NOINLINE void step(member& m);
  POLDER_NOINLINE void step_or_close(member& m);
  POLDER_NOINLINE member& open_and_tell();
  POLDER_NOINLINE static void finish(member& m) noexcept;
  bool over_bound(const member& m) const noexcept;
  void measure_room(member& m) const noexcept;
  POLDER_NOINLINE void look_at_bound(member& m);
  void tell_of_the_bound(member& m);
  template <class F>
  void or_close(member& m, F&& f);
  POLDER_NOINLINE void tell_who_stalls();
  static stall in_full(const member& m, stall s) noexcept;
  stall oldest_obstacle();
  void free_ripe(member& m);
  POLDER_NOINLINE void drain_some(member& m);
  void free_a_few(member& m);
  void keep_pace(member& m);
  void free(member& m, const entry& e);
  void free_some(member& m, std::size_t n);
  void free_all(member& m);
  bool destroy(member& m, const entry& e);
  void pool_all(member& m);
  void free_batches(member& m);
  POLDER_NOINLINE void make_room(member& m);
  POLDER_NOINLINE void adopt_some(member& mine);
  void collect();
  void free_collected();
  std::uint64_t retired_in_background() const noexcept;
  void part(member& m) noexcept;
  void thread_ended(thread_slot::number who) noexcept override;
  bool needs(thread_slot::number who) const noexcept override;
  void forked(thread_slot::number survivor) noexcept override;
  unsigned members_inside() const noexcept;
  void outside(std::string_view what) const;

  Core core_;
  const options options_;
  ledger ledger_;
  membership<member> members_;
  background background_;
  owned_lock drain_lock_;  // of who moves bags between seats
  owned_lock stalls_lock_;
  typename Core::bags::parcel collected_;  // under the drain lock: waits for guards to close
  orphan_hint orphans_;
};

}  // namespace polder::smr
