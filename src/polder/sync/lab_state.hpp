#pragma once
// lab_state — who may touch a LAB's private data, and why no block left in its inbox is forgotten.
//
//   paper      none. The claim is the asymmetric Dekker of biased locks (Dice, Huang, Yang 2001) with membarrier(2) as
//               the heavy side, and without waiting; leaving is Dekker's once more, against who posts to the inbox
//   progress   announce, admits, exit, try_*: wait-free. come_in, give_way, end_claim: one CAS or two. leave: retries only when a claim
//               began or ended in between. settle, posted: lock-free, repeat only when another thread has posted again
//   in malloc  yes: allocates nothing, locks nothing. In a signal handler: come_in only when active() is false
//   deviation  -
//
// States. An arrow is one store or successful CAS; in brackets, what the thread that made it owes or owns.
//
//   unmade ─── make [nothing] ───▶ idle        idle ⇄ draining    try_drain [its data are mine];
//                                                                 settle [look into the inbox]
//
//                   try_acquire                   come_in, the owner's [open it]
//            idle ────────────────▶ shut ──────────────────────────────────────┐
//             ▲ ▲   [it is my        ▲  │ try_claim [look at `active`]         ▼
//             │ │    thread's]       │  └──────────────────────────────────▶ claimed
//             │ │                    └──── end_claim [nothing] ────────────────┤ ▲ │ come_in [it is open]
//             │ │                                                              │ │ ▼
//             │ │ leave, from shut or running [look into the inbox]            │ │ running
//             │ └──────────────────────────────────────────────────────────────│ └──┘ try_claim [look at `active`]
//             │   settle [look into the inbox]                                 ▼
//             └──────────────────────────────────────────────────────────── abandoned
//                       give_way, leave [take another LAB; this one is the claimer's]; inherit [it is mine: its owner has ended]
//
// Invariants. Private data are touched only by
//   the owner, between an announce() after which the gate was open, or a come_in() that said it is inside, and exit();
//   the claimer, from a try_claim() that found the owner outside until end_claim();
//   whoever holds it draining, or abandoned after end_claim() or try_claim() said `inherited`, or after inherit().
// The gate is open only while it is running, and only its owner opens it.
// And once every thread has left: every block posted has been drained exactly once.
//
// A thread may be interrupted by a signal handler between looking for its LAB and announce(), and the handler may give that LAB
// away. It enters all the same when it goes on. So a LAB that was given away stays closed, and is reserved: nobody has it as
// long as that thread may be about to enter, which is until it has ended.
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/sync/atomic.hpp>

namespace polder {

enum class lab_state : std::uint32_t {
  unmade,   // all-zero memory
  idle,     // no thread works here
  shut,     // one thread works here, the owner, which has yet to open the gate
  running,  // the same, and it is open
  claimed,  // the owner stays outside while another thread, the claimer, works on its data; or is about to open it
  abandoned,  // the owner left while it was claimed; it is the claimer's
  draining,   // without an owner, somebody empties its inbox or takes its spans
};

constexpr bool legal(lab_state from, lab_state to) {
  switch (from) {
    case lab_state::unmade: return to == lab_state::idle;
    case lab_state::idle: return to == lab_state::shut || to == lab_state::draining;
    case lab_state::shut: return to == lab_state::idle || to == lab_state::claimed;
    case lab_state::running: return to == lab_state::idle || to == lab_state::claimed;
    case lab_state::claimed: return to == lab_state::shut || to == lab_state::running || to == lab_state::abandoned;
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
  // All-zero memory is an unmade, closed gate. make() before anyone takes it; others may look at it meanwhile.
  gate() noexcept = default;
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;

  static constexpr std::uint32_t no_key = ~std::uint32_t{0};
  static constexpr std::uint32_t unnumbered = 0;  // of an owner: nobody can ask whether it has ended

  // While open it admits sizes below `limit`, and `key`. limit > 0; key != no_key. Of the LAB
  // everything is there before this.
  void make(std::uint64_t limit, std::uint32_t key) noexcept {
    POLDER_CHECK(1, limit != 0 && key != no_key && legal(state(), lab_state::idle));
    open_limit_.set(limit);
    open_key_.set(key);
    close();
    state_.store(word(lab_state::idle), order::release);  // sync: gate-handover
  }

  // ---- the owner -------------------------------------------------------------------------------------------------

  // idle → shut. False: somebody else has it, or it is reserved; take another. `thread`: the owner as the kernel numbers it.
  [[nodiscard]] bool try_acquire(std::uint32_t thread = unnumbered) noexcept {
    POLDER_CHECK(1, thread <= most_numbered);
    std::uint32_t none = word(lab_state::idle);
    if (!state_.cas(none, word(lab_state::shut, thread), order::acquire, order::relaxed))  // sync: gate-handover
      return false;
    active_.store(0, order::relaxed);  // a former owner may have come too late, and found it closed
    return true;
  }

  // Before private data are touched. False: it was inside already, as only its signal handlers find it; nothing has changed.
  // True: announced. Then admits() says whether to go on, and if not, the slow path asks is_open(): if it is, the owner is inside
  // all the same. Always paired with exit().
  [[nodiscard]] bool announce() noexcept {
    if (!take_one(active_)) [[unlikely]] {
      active_.store(inside, order::relaxed);
      return false;
    }
    signal_fence();  // sync: claim-or-enter; see active_
    return true;
  }
  [[nodiscard]] bool admits(std::uint64_t size) const noexcept { return is_below(size, limit_); }
  [[nodiscard]] bool admits_key(std::uint32_t key) const noexcept { return is_equal(key, key_); }

  [[nodiscard]] bool is_open() const noexcept { return limit_.load(order::relaxed) != 0; }

  // By who is outside: announces itself, and opens the gate if it is only shut. True: inside. False: it is claimed, or the
  // caller's no more; outside.
  [[nodiscard]] bool come_in() noexcept {
    active_.store(inside, order::relaxed);
    signal_fence();  // sync: claim-or-enter; see active_
    if (is_open()) return true;
    // The owner claims it itself: nobody else can, until it is open.
    if (step(lab_state::shut, lab_state::claimed, order::acquire)) {  // sync: gate-handover
      limit_.store(open_limit_.get(), order::relaxed);
      key_.store(open_key_.get(), order::relaxed);
      static_cast<void>(step(lab_state::claimed, lab_state::running, order::release));  // sync: gate-handover
      return true;
    }
    exit();
    return false;
  }

  void exit() noexcept { active_.store(0, order::release); }  // sync: owner-out

  // A numbered owner, outside, after come_in() returned false. True: the LAB is gone, nothing of it may be touched any more, take
  // another; nobody else has it before the caller's thread has ended. False: the claim is over already and the LAB still ours.
  [[nodiscard]] bool give_way() noexcept {
    return step(lab_state::claimed, lab_state::abandoned, order::release);  // sync: gate-handover
  }

  // The owner, outside, has no further use for the LAB, and is not about to enter. `pending()`: is the inbox not empty?
  // `drain()`: empty it. True: the LAB is idle now. False: a claimer has it, who will make it idle.
  template <class Pending, class Drain>
  bool leave(Pending&& pending, Drain&& drain) noexcept {
    POLDER_CHECK(1, !active());
    close();
    for (;;) {
      if (step(lab_state::running, lab_state::idle, order::release)) break;  // sync: gate-handover
      if (step(lab_state::shut, lab_state::idle, order::release)) break;     // sync: gate-handover
      if (abandon(order::release)) return false;                             // sync: gate-handover
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
    POLDER_CHECK(1, state() == lab_state::draining || state() == lab_state::abandoned);
    state_.store(word(lab_state::idle, number()), order::release);  // sync: gate-handover
    recheck(pending, drain);
  }

  // A thread for which it was reserved has ended, so that it may be had by all. `thread`: reserved_for(), as it was before that
  // was found out.
  void lift(std::uint32_t thread) noexcept {
    std::uint32_t kept = word(lab_state::idle, thread);
    state_.cas(kept, word(lab_state::idle), order::relaxed, order::relaxed);
  }

  // ---- who claims the LAB of a thread that is outside --------------------------------------------------------------

  // running or shut → claimed, closed, and the owner seen outside. `heavy_fence()` is membarrier(2), private expedited: true
  // when the barrier took place, false when the kernel refused it; then there are no claims.
  template <class HeavyFence>
  [[nodiscard]] claim try_claim(HeavyFence&& heavy_fence) noexcept {
    if (!step(lab_state::running, lab_state::claimed, order::acquire) &&  // sync: gate-handover
        !step(lab_state::shut, lab_state::claimed, order::acquire))       // sync: gate-handover
      return claim::refused;
    close();
    const bool fenced = heavy_fence();                                    // sync: claim-or-enter; see active_
    if (fenced && active_.load(order::acquire) == 0) return claim::held;  // sync: owner-out
    return end_claim() ? claim::refused : claim::inherited;
  }

  // claimed → shut. True: it is the owner's again, who opens it. False: the owner has gone; the data are still the caller's, who
  // drains and settles.
  [[nodiscard]] bool end_claim() noexcept {
    return step(lab_state::claimed, lab_state::shut, order::release, order::acquire);  // sync: gate-handover
  }

  // Instead of end_claim(), after try_claim() said `held`, by a claimer who knows that the owner has ended: the arrow that the
  // owner would have gone, had it come by once more. The data are the caller's, who drains and settles. An owner that gave way
  // before it ended has gone the arrow itself.
  void inherit() noexcept {
    // Relaxed: since the claim began nobody else has touched the data.
    static_cast<void>(abandon(order::relaxed));
  }

  // ---- everybody ---------------------------------------------------------------------------------------------------

  [[nodiscard]] lab_state state() const noexcept { return state_in(state_.load(order::relaxed)); }

  // Has it an owner? Has it one, and no claimer?
  [[nodiscard]] bool is_owned() const noexcept { return owned(state()); }
  [[nodiscard]] bool is_unclaimed() const noexcept {
    const lab_state now = state();
    return owned(now) && now != lab_state::claimed;
  }

  // The owner's number, or `unnumbered`; the latter also where there is no owner. For a claimer it stays what it is.
  [[nodiscard]] std::uint32_t owner() const noexcept {
    const std::uint32_t now = state_.load(order::relaxed);
    return owned(state_in(now)) ? number_in(now) : unnumbered;
  }

  // Whose end is waited for before anybody else may have it; `unnumbered`: nobody's.
  [[nodiscard]] std::uint32_t reserved_for() const noexcept {
    const std::uint32_t now = state_.load(order::relaxed);
    return owned(state_in(now)) ? unnumbered : number_in(now);
  }

  // Is the owner inside? Exact for the owner itself and its signal handlers; a hint for others.
  [[nodiscard]] bool active() const noexcept { return active_.load(order::relaxed) != 0; }

  // Has it an owner, unclaimed, who does something else? A hint: try_claim() finds out.
  [[nodiscard]] bool owner_is_outside() const noexcept { return is_unclaimed() && !active(); }

  // In the child of a fork, where the calling thread is the only one, for a LAB that is not its own. `was`, `is`: that thread's
  // number before and after. True: it is idle now. False: its maker, its owner, a claimer or a drainer was inside, the data may
  // be torn: never use it again.
  [[nodiscard]] bool release_in_child(std::uint32_t was, std::uint32_t is) noexcept {
    if (state() != lab_state::idle && !owner_is_outside()) return false;
    const bool is_ours = was != unnumbered && reserved_for() == was;
    close();
    state_.store(word(lab_state::idle, is_ours ? is : unnumbered), order::relaxed);
    return true;
  }

  // There too, for its own LAB: the kernel numbers the thread anew. One that was claimed stays closed, for its claimer is no
  // more; its owner gives way.
  void renumber_in_child(std::uint32_t thread) noexcept {
    if (is_owned()) state_.store(word(state(), thread), order::relaxed);
  }

 private:
  // Of `active_`. Who finds it so takes one from it nevertheless, and must not come to 0.
  static constexpr std::uint32_t inside = ~std::uint32_t{0};

  static constexpr unsigned state_bits = 3;
  static constexpr std::uint32_t most_numbered = ~std::uint32_t{0} >> state_bits;

  static constexpr std::uint32_t word(lab_state s, std::uint32_t thread = unnumbered) noexcept {
    return thread << state_bits | std::uint32_t(s);
  }
  static constexpr lab_state state_in(std::uint32_t word) noexcept {
    return lab_state(word & ((1u << state_bits) - 1));
  }
  static constexpr std::uint32_t number_in(std::uint32_t word) noexcept { return word >> state_bits; }
  static constexpr bool owned(lab_state s) noexcept {
    return s == lab_state::shut || s == lab_state::running || s == lab_state::claimed;
  }
  std::uint32_t number() const noexcept { return number_in(state_.load(order::relaxed)); }

  // The number stays, but for that of an owner who leaves: it is `dropped`. The first attempt takes it for unnumbered, and sees
  // it if it is not. To load that first would do as well, and be one more point at which the model's threads take turns.
  [[nodiscard]] bool step(lab_state from, lab_state to, order success, order failure = order::relaxed,
                          bool dropped = false) noexcept {
    POLDER_CHECK(1, legal(from, to));
    dropped = dropped || (owned(from) && to == lab_state::idle);
    std::uint32_t now = word(from);
    const auto attempt = [&] {
      return state_.cas(now, word(to, dropped ? unnumbered : number_in(now)), success, failure);
    };
    return attempt() || (state_in(now) == from && attempt());
  }

  // By who is not about to enter, ever more.
  [[nodiscard]] bool abandon(order success) noexcept {
    return step(lab_state::claimed, lab_state::abandoned, success, order::relaxed, true);
  }

  void close() noexcept {
    limit_.store(0, order::relaxed);
    key_.store(no_key, order::relaxed);
  }

  template <class Pending, class Drain>
  void recheck(Pending&& pending, Drain&& drain) noexcept {
    for (;;) {
      fence(order::seq_cst);  // sync: post-or-leave; see state_
      if (!pending() || !try_drain()) return;
      drain();
      state_.store(word(lab_state::idle, number()), order::release);  // sync: gate-handover
    }
  }

  // limit_, key_ — what the owner compares its operation with; 0 and no_key, which admit nothing, unless it is running.
  //   written by  the owner, who opens while it claims the LAB itself, and closes when it leaves; a claimer closes
  //   read by     the owner, inside
  //   order       relaxed: what is behind the gate comes with gate-handover, when the owner opens it; whether it is open with
  //                 claim-or-enter. That an opening is not undone by a claimer who closed before: it ended its claim
  //                 first, and the owner's step to claimed acquires that
  //   ABA         a claimer may close and end between two loads of one operation: harmless, see active_
  //   Two words because two comparisons of the fast path are reused; each is closed before the heavy fence.
  atomic<std::uint64_t> limit_;
  atomic<std::uint32_t> key_;

  // active_ — 0 while the owner is outside; `inside`, or a little less, while it is inside.
  //   written by  the owner: taken one from and set to 0, once each an operation
  //   read by     claimers
  //   order       claim-or-enter, store-load on both sides: the owner makes active other than 0 and then loads the limit; the
  //                 claimer stores limit = 0 and then loads active. Not both may miss the other's store: membarrier
  //                 puts a full barrier into the owner's instruction stream, somewhere. If before the store of
  //                 active, the limit is loaded after the barrier and is 0; if after it, the store has become
  //                 visible when membarrier returns, and the claimer reads it. signal_fence keeps the compiler
  //                 from turning the two around; on x86 and on ARM the interrupt that carries the barrier falls
  //                 between two instructions in program order, and a thread that is not on a processor has
  //                 passed a full barrier in the scheduler.
  //               The model runs it twice: with seq_cst fences on both sides, which is more than the light side
  //                 has, and with nothing on the light side and a fence on every thread at once as the heavy one.
  //               owner-out: the owner's release after its last access; the claimer's acquire of 0 comes after it.
  //                 The 0 it reads is the last one: were another stored before the barrier, it would read that.
  //   ABA         an owner that reads an open limit was announced before any later claim's barrier, so that claim
  //                 is refused: it does not matter how often the gate was closed and opened before. A thread that has
  //                 given the LAB away, and is about to enter all the same, may leave it so: who has it next clears that
  atomic<std::uint32_t> active_;

  // state_ — see the drawing; above it, while there is an owner, the owner's number; else that of the thread for which it is
  // reserved.
  //   written by  the thread named on the arrow
  //   read by     anybody
  //   order       gate-handover: who lets go of the data releases (→ idle, claimed →), who takes them acquires (idle →,
  //                 → claimed, and the claimer on finding `abandoned`). An owner who has not been inside yet has nothing
  //                 to let go: whoever claims from it reads what the LAB's last holder released
  //               post-or-leave, store-load on both sides: a poster pushes a block, fences, and loads the state;
  //                 whoever makes the LAB idle stores the state, fences, and looks into the inbox. Both fences are
  //                 seq_cst, one of them comes first: either the poster sees idle, or something later, or the
  //                 leaver sees the block, or that it was taken. "Something later" is a thread that will itself
  //                 come through the same fence when it leaves.
  //   ABA         harmless: idle → running → idle means that somebody has looked into the inbox in between. A claimer's
  //                 question whether the owner has ended is about the owner it claimed from, for the number came with the
  //                 state: a thread that was given the number of one that ended is at worst taken for that one, alive
  atomic<std::uint32_t> state_;

  plain<std::uint32_t> open_key_;    // written before the LAB is first idle, then only read
  plain<std::uint64_t> open_limit_;  // the same
};

#if !defined(POLDER_MODEL)
static_assert(sizeof(gate) == 32);
#endif

}  // namespace polder
