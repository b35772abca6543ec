#pragma once
// lab_state — who may touch a LAB's private data, and why no block left in its inbox is forgotten.
//
//   paper      none. The claim is the asymmetric Dekker of biased locks (Dice, Huang, Yang 2001) with membarrier(2) as
//               the heavy side, and without waiting; leaving is Dekker's once more, against who posts to the inbox
//   progress   enter, exit, try_*: wait-free. give_way, end_claim: one CAS. leave: retries only when a claim ended in
//               between. settle, posted: lock-free, repeat only when another thread has posted again
//   in malloc  yes: allocates nothing, locks nothing. In a signal handler: enter only when active() is false
//   deviation  -
//
// States. An arrow is one store or successful CAS; in brackets, what the thread that made it owes or owns.
//
//                              try_acquire [the LAB is my thread's]
//                      ┌────────────────────────────────────────────┐
//        try_drain     │                  leave                     ▼    try_claim [look at `active`]
//   ┌─────────────── idle ◀────────────────────────────────────── running ─────────────────────┐
//   │ [its data       ▲ ▲        [look into the inbox]               ▲                         ▼
//   ▼  are mine]      │ │                                            └────────────────────── claimed
// draining ───────────┘ │ settle [look into the inbox]                 end_claim [nothing]     │
//      settle           └──────────────────────────────── abandoned ◀──────────────────────────┘
//      [look into the inbox]                                       give_way, leave [take another LAB;
//                                                                    the LAB is the claimer's]
//                                                                  inherit [it is mine: its owner has ended]
//
// Invariants. Private data are touched only by
//   the owner, between an enter() that found the gate open and exit();
//   the claimer, from a try_claim() that found the owner outside until end_claim();
//   whoever holds it draining, or abandoned after end_claim() or try_claim() said `inherited`, or after inherit().
// And once every thread has left: every block posted has been drained exactly once.
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/sync/atomic.hpp>

namespace polder {

enum class lab_state : std::uint32_t {
  idle,       // no thread works here
  running,    // one thread works here: the owner
  claimed,    // the owner stays outside while another thread, the claimer, works on its data
  abandoned,  // the owner left while it was claimed; it is the claimer's
  draining,   // without an owner, somebody empties its inbox or takes its spans
};

constexpr bool legal(lab_state from, lab_state to) {
  switch (from) {
    case lab_state::idle: return to == lab_state::running || to == lab_state::draining;
    case lab_state::running: return to == lab_state::idle || to == lab_state::claimed;
    case lab_state::claimed: return to == lab_state::running || to == lab_state::abandoned;
    case lab_state::abandoned: return to == lab_state::idle;
    case lab_state::draining: return to == lab_state::idle;
  }
  return false;
}

enum class claim {
  refused,    // nothing to do: no owner, another claimer, or the owner is inside
  held,       // the data are the caller's until end_claim()
  inherited,  // the data are the caller's, for the owner has gone: drain, then settle()
};

class gate {
 public:
  // All-zero memory is an idle, closed gate. open_with() before anyone takes it; others may look at it meanwhile.
  gate() noexcept = default;
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;

  static constexpr std::uint32_t no_key = ~std::uint32_t{0};
  static constexpr std::uint32_t unnumbered = 0;  // of an owner: nobody can ask whether it has ended

  // While open, enter(size) admits sizes below `limit`, enter_with(key) admits `key`. limit > 0; key != no_key.
  void open_with(std::uint64_t limit, std::uint32_t key) noexcept {
    POLDER_CHECK(1, limit != 0 && key != no_key);
    open_limit_.set(limit);
    open_key_.set(key);
    open();
  }

  // ---- the owner -------------------------------------------------------------------------------------------------

  // idle → running. False: somebody else has it; take another. Of a new LAB everything is there before this. `thread`: the
  // owner as the kernel numbers it.
  [[nodiscard]] bool try_acquire(std::uint32_t thread = unnumbered) noexcept {
    POLDER_CHECK(1, thread <= most_numbered);
    std::uint32_t none = word(lab_state::idle);
    return state_.cas(none, word(lab_state::running, thread), order::acq_rel,
                      order::relaxed);  // sync: gate-handover
  }

  // Before private data are touched. True: inside, go on. False: `size` is too large or the gate is closed; the slow
  // path asks is_open(), and if it is, the owner is inside all the same. Always paired with exit() or give_way().
  [[nodiscard]] bool enter(std::uint64_t size) noexcept {
    announce();
    return size < limit_.load(order::acquire);  // sync: claim-over
  }

  // The same for an operation that compares a key instead of a size.
  [[nodiscard]] bool enter_with(std::uint32_t key) noexcept {
    announce();
    return key == key_.load(order::acquire);  // sync: claim-over
  }

  // After an enter that returned false.
  [[nodiscard]] bool is_open() const noexcept { return limit_.load(order::acquire) != 0; }  // sync: claim-over

  void exit() noexcept { active_.store(0, order::release); }  // sync: owner-out

  // Instead of exit(), when the gate is closed. True: the LAB is gone, nothing of it may be touched any more, take
  // another. False: the claim is over already and the LAB still ours; enter again.
  [[nodiscard]] bool give_way() noexcept {
    exit();  // before the CAS: after it, `active` belongs to the LAB's next owner
    return step(lab_state::claimed, lab_state::abandoned, order::release,
                order::acquire);  // sync: gate-handover; claim-over: the limit that is read next is the open one
  }

  // The owner, outside, has no further use for the LAB. `pending()`: is the inbox not empty? `drain()`: empty it.
  // True: the LAB is idle now. False: a claimer has it, who will make it idle.
  template <class Pending, class Drain>
  bool leave(Pending&& pending, Drain&& drain) noexcept {
    POLDER_CHECK(1, !active());
    for (;;) {
      if (step(lab_state::running, lab_state::idle, order::release)) break;              // sync: gate-handover
      if (step(lab_state::claimed, lab_state::abandoned, order::release)) return false;  // sync: gate-handover
    }
    recheck(pending, drain);
    return true;
  }

  // ---- who posted to the inbox -----------------------------------------------------------------------------------

  // After a push. If no thread works in the LAB, drains it; otherwise whoever does will.
  template <class Pending, class Drain>
  void posted(Pending&& pending, Drain&& drain) noexcept {
    fence(order::seq_cst);  // sync: post-or-leave; see state_
    if (state() != lab_state::idle) return;
    if (!try_drain()) return;
    drain();
    settle(pending, drain);
  }

  // ---- who drains or adopts a LAB without a thread ---------------------------------------------------------------

  // idle → draining. True: the private data are the caller's until settle().
  [[nodiscard]] bool try_drain() noexcept {
    return step(lab_state::idle, lab_state::draining, order::acquire);  // sync: gate-handover
  }

  // draining or abandoned → idle, by the thread that holds it. `drain` runs while it is held again; what it wants to
  // post to other LABs it had better collect and post after this returns, or drains nest.
  template <class Pending, class Drain>
  void settle(Pending&& pending, Drain&& drain) noexcept {
    POLDER_CHECK(1, legal(state(), lab_state::idle) && state() != lab_state::running);
    state_.store(word(lab_state::idle), order::release);  // sync: gate-handover
    recheck(pending, drain);
  }

  // ---- who claims the LAB of a thread that is outside --------------------------------------------------------------

  // running → claimed, closed, and the owner seen outside. `heavy_fence()` is membarrier(2), private expedited: true
  // when the barrier took place, false when the kernel refused it; then there are no claims.
  template <class HeavyFence>
  [[nodiscard]] claim try_claim(HeavyFence&& heavy_fence) noexcept {
    if (!step(lab_state::running, lab_state::claimed, order::acquire))
      return claim::refused;  // sync: gate-handover
    limit_.store(0, order::relaxed);
    key_.store(no_key, order::relaxed);
    const bool fenced = heavy_fence();                                    // sync: claim-or-enter; see active_
    if (fenced && active_.load(order::acquire) == 0) return claim::held;  // sync: owner-out
    return end_claim() ? claim::refused : claim::inherited;
  }

  // claimed → running. True: it is the owner's again. False: the owner has gone; the data are still the caller's, who
  // drains and settles.
  [[nodiscard]] bool end_claim() noexcept {
    open();  // before the CAS: after it, the next claimer may have closed it
    return step(lab_state::claimed, lab_state::running, order::release, order::acquire);  // sync: gate-handover
  }

  // Instead of end_claim(), after try_claim() said `held`, by a claimer who knows that the owner has ended: the arrow that the
  // owner would have gone, had it come by once more. The data are the caller's, who drains and settles. An owner that gave way
  // before it ended has gone the arrow itself.
  void inherit() noexcept {
    open();  // for the next owner
    // Relaxed: since the claim began nobody else has touched the data.
    static_cast<void>(step(lab_state::claimed, lab_state::abandoned, order::relaxed));
  }

  // ---- everybody ---------------------------------------------------------------------------------------------------

  [[nodiscard]] lab_state state() const noexcept { return state_in(state_.load(order::relaxed)); }

  // The owner's number, or `unnumbered`; the latter also where there is no owner. For a claimer it stays what it is.
  [[nodiscard]] std::uint32_t owner() const noexcept { return owner_in(state_.load(order::relaxed)); }

  // Is the owner inside? Exact for the owner itself and its signal handlers; a hint for others.
  [[nodiscard]] bool active() const noexcept { return active_.load(order::relaxed) != 0; }

  // Has it an owner, unclaimed, who does something else? A hint: try_claim() finds out.
  [[nodiscard]] bool owner_is_outside() const noexcept { return state() == lab_state::running && !active(); }

  // In the child of a fork, where the calling thread is the only one, for a LAB that is not its own. True: it is
  // idle now. False: its maker, its owner, a claimer or a drainer was inside, the data may be torn: never use it again.
  [[nodiscard]] bool release_in_child() noexcept {
    if (active() || !is_open()) return false;
    if (state() == lab_state::running) state_.store(word(lab_state::idle), order::relaxed);
    return state() == lab_state::idle;
  }

  // There too, for its own LAB: the kernel numbers the thread anew. One that was claimed stays closed, for its claimer is no
  // more; its owner gives way.
  void renumber_in_child(std::uint32_t thread) noexcept {
    if (state() == lab_state::running) state_.store(word(lab_state::running, thread), order::relaxed);
  }

 private:
  static constexpr unsigned state_bits = 3;
  static constexpr std::uint32_t most_numbered = ~std::uint32_t{0} >> state_bits;

  static constexpr std::uint32_t word(lab_state s, std::uint32_t owner = unnumbered) noexcept {
    return owner << state_bits | std::uint32_t(s);
  }
  static constexpr lab_state state_in(std::uint32_t word) noexcept {
    return lab_state(word & ((1u << state_bits) - 1));
  }
  static constexpr std::uint32_t owner_in(std::uint32_t word) noexcept { return word >> state_bits; }
  static constexpr bool is_owned(lab_state s) noexcept {
    return s == lab_state::running || s == lab_state::claimed;
  }

  // Between two owned states the owner stays the same. The first attempt takes it for unnumbered, and sees its number if it is
  // not. To load that first would do as well, and be one more point at which the model's threads take turns.
  [[nodiscard]] bool step(lab_state from, lab_state to, order success, order failure = order::relaxed) noexcept {
    POLDER_CHECK(1, legal(from, to));
    std::uint32_t now = word(from);
    const auto attempt = [&] {
      return state_.cas(now, word(to, is_owned(to) ? owner_in(now) : unnumbered), success, failure);
    };
    return attempt() || (is_owned(from) && state_in(now) == from && attempt());
  }

  void open() noexcept {
    limit_.store(open_limit_.get(), order::release);  // sync: claim-over
    key_.store(open_key_.get(), order::release);      // sync: claim-over
  }

  void announce() noexcept {
    active_.store(1, order::relaxed);
    signal_fence();  // sync: claim-or-enter; see active_
  }

  template <class Pending, class Drain>
  void recheck(Pending&& pending, Drain&& drain) noexcept {
    for (;;) {
      fence(order::seq_cst);  // sync: post-or-leave; see state_
      if (!pending() || !try_drain()) return;
      drain();
      state_.store(word(lab_state::idle), order::release);  // sync: gate-handover
    }
  }

  // limit_, key_ — what the owner compares its operation with; 0 and no_key, which admit nothing, while claimed.
  //   written by  the claimer, between running → claimed and the end of the claim
  //   read by     the owner, inside
  //   order       claim-over: the claimer opens with release after its last access to the data; the owner's acquire,
  //                 on reading the open value, comes after that access. give_way, on finding the claim over,
  //                 acquires as well: without it the owner might go on reading 0 and never get in
  //   ABA         reopened and closed again between two loads of one operation: harmless, see active_
  //   Two words because two comparisons of the fast path are reused; each is closed before the heavy fence.
  atomic<std::uint64_t> limit_;
  atomic<std::uint32_t> key_;

  // active_ — 1 while the owner is inside.
  //   written by  the owner: two plain stores an operation
  //   read by     claimers
  //   order       claim-or-enter, store-load on both sides: the owner stores active = 1 and then loads the limit; the
  //                 claimer stores limit = 0 and then loads active. Not both may miss the other's store: membarrier
  //                 puts a full barrier into the owner's instruction stream, somewhere. If before the store of
  //                 active, the limit is loaded after the barrier and is 0; if after it, the store has become
  //                 visible when membarrier returns, and the claimer reads 1. signal_fence keeps the compiler
  //                 from turning the two around; on x86 and on ARM the interrupt that carries the barrier falls
  //                 between two instructions in program order, and a thread that is not on a processor has
  //                 passed a full barrier in the scheduler.
  //               The model runs it twice: with seq_cst fences on both sides, which is more than the light side
  //                 has, and with nothing on the light side and a fence on every thread at once as the heavy one.
  //               owner-out: the owner's release after its last access; the claimer's acquire of 0 comes after it.
  //                 The 0 it reads is the last one: were a later 1 stored before the barrier, it would read that.
  //   ABA         an owner that reads an open limit was announced before any later claim's barrier, so that claim
  //                 is refused: it does not matter how often the gate was closed and opened before
  atomic<std::uint32_t> active_;

  // state_ — see the drawing; above it, while there is an owner, the owner's number.
  //   written by  the thread named on the arrow
  //   read by     anybody
  //   order       gate-handover: who lets go of the data releases (→ idle, claimed → running, → abandoned), who takes
  //                 them acquires (idle →, running → claimed, and the claimer on finding `abandoned`). idle →
  //                 running releases besides: what a claimer finds of a new LAB, its maker wrote before
  //               post-or-leave, store-load on both sides: a poster pushes a block, fences, and loads the state;
  //                 whoever makes the LAB idle stores the state, fences, and looks into the inbox. Both fences are
  //                 seq_cst, one of them comes first: either the poster sees idle, or something later, or the
  //                 leaver sees the block, or that it was taken. "Something later" is a thread that will itself
  //                 come through the same fence when it leaves.
  //   ABA         harmless: idle → running → idle means that somebody has looked into the inbox in between. A claimer's
  //                 question whether the owner has ended is about the owner it claimed from, for the number came with the
  //                 state: a thread that was given the number of one that ended is at worst taken for that one, alive
  atomic<std::uint32_t> state_;

  plain<std::uint32_t> open_key_;    // written before the LAB first runs, then only read
  plain<std::uint64_t> open_limit_;  // the same
};

#if !defined(POLDER_MODEL)
static_assert(sizeof(gate) == 32);
#endif

}  // namespace polder
