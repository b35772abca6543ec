#pragma once
// combining — a sequential structure that one thread at a time works on, for all that have asked.
//
//   paper      Hendler, Incze, Shavit and Tzafrir, "Flat combining and the synchronization-parallelism tradeoff", SPAA 2010,
//              sec. 2
//   progress   blocking: who has asked waits for the combiner, or becomes it
//   in malloc  yes
//   deviation  who finds the lock free goes in without publishing. Who waits gives the processor away after a few looks: the
//              combiner may be without one
//
// States of a record; "listed" and "asks" change apart.
//
//                 enlist: CAS of first_                       ask                         combine [take the answer]
//     unlisted ──────────────────────────▶ listed   |   idle ─────▶ asks to put or take ─────────────────────────▶ idle
//         ▲   [nothing]                       │          ▲ owner                           the combiner
//         └───────────────────────────────────┘
//           the combiner: it has not asked for long
//
// Invariants: sequence_, ages and the links of listed records are the lock holder's. The first record of the list stays in
// it, so that a CAS of first_ cannot mistake it. An owner looks again whether it is listed as long as it asks.
//
// Sequence has node, put(node*) and take() (parts/sequential_queue.hpp); nothing of it throws.
#include <sched.h>

#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/ds/parts/relax.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class Sequence, unsigned Old = 256>
class combining {
  enum class request : std::uint8_t { none, put, take };

 public:
  using node = typename Sequence::node;

  // What a thread asks through, one at a time. Stays where it is as long as the combiner.
  class alignas(false_sharing_range) record {
    friend combining;
    // asks — what its owner wants done. Written by the owner, and by the combiner when it is done; read by both.
    //   order  combining-asked: the operand is there; combining-answered: so is the answer
    atomic<request> asks{request::none};
    // listed — whether it is in the list. Set by the owner, cleared by the combiner.
    //   order  combining-unlisted: the combiner has done with its link
    atomic<bool> listed{false};
    plain<node*> operand;      // whose turn it is by asks
    plain<record*> next;       // the owner's until it is listed, then the combiner's
    plain<std::uint64_t> age;  // the pass that last found it asking; combiner only
  };

  combining() = default;
  combining(const combining&) = delete;
  combining& operator=(const combining&) = delete;

  void put(record& mine, node* n) noexcept { ask(mine, request::put, n); }
  // Null: it is empty.
  node* take(record& mine) noexcept { return ask(mine, request::take, nullptr); }

 private:
  static constexpr unsigned looks = 64;           // before the processor is given away
  static constexpr unsigned scans = 3;            // of the list, while one finds something
  static constexpr unsigned passes_a_look = Old;  // at the ages
  static constexpr unsigned old = Old;            // passes in which it did not ask

  node* ask(record& mine, request what, node* n) noexcept {
    if (try_lock()) {
      node* const answer = apply(what, n);
      combine();
      unlock();
      return answer;
    }
    mine.operand.set(n);
    mine.asks.store(what, order::release);  // sync: combining-asked
    for (unsigned i = 1;; ++i) {
      if (mine.asks.load(order::acquire) == request::none) return mine.operand.get();  // sync: combining-answered
      if (!mine.listed.load(order::acquire)) enlist(mine);                             // sync: combining-unlisted
      if (try_lock()) {
        combine();
        // Listed or not, it is answered: it may just have been taken out.
        if (mine.asks.load(order::relaxed) != request::none) answer(mine);
        unlock();
        return mine.operand.get();
      }
      if (i % looks == 0) (sched_yield)();  // the parentheses keep a model checker's macro out
      else relax();
    }
  }

  void enlist(record& mine) noexcept {
    mine.listed.store(true, order::relaxed);
    record* first = first_.load(order::relaxed);
    do {
      mine.next.set(first);
    } while (!first_.cas(first, &mine, order::release, order::relaxed));  // sync: combining-listed
  }

  // ---- the lock's holder ---------------------------------------------------------------------------------------------

  void combine() noexcept {
    passes_.set(passes_.get() + 1);
    for (unsigned scan = 0; scan != scans; ++scan) {
      bool found = false;
      for (record* r = first_.load(order::acquire); r != nullptr; r = r->next.get()) {  // sync: combining-listed
        if (r->asks.load(order::acquire) == request::none) continue;                    // sync: combining-asked
        answer(*r);
        found = true;
      }
      if (!found) break;
    }
    if (passes_.get() % passes_a_look == 0) unlist_old();
  }
  void answer(record& r) noexcept {
    r.operand.set(apply(r.asks.load(order::relaxed), r.operand.get()));
    r.age.set(passes_.get());
    r.asks.store(request::none, order::release);  // sync: combining-answered
  }
  node* apply(request what, node* n) noexcept {
    if (what == request::take) return sequence_.take();
    sequence_.put(n);
    return nullptr;
  }
  void unlist_old() noexcept {
    record* before = first_.load(order::acquire);  // sync: combining-listed
    if (before == nullptr) return;
    while (record* const r = before->next.get()) {
      if (r->age.get() + old >= passes_.get()) {
        before = r;
      } else {
        before->next.set(r->next.get());
        r->listed.store(false, order::release);  // sync: combining-unlisted
      }
    }
  }

  bool try_lock() noexcept {
    return !locked_.load(order::relaxed) && !locked_.exchange(true, order::acquire);  // sync: combining-lock
  }
  void unlock() noexcept { locked_.store(false, order::release); }  // sync: combining-lock

  // locked_ — whether there is a combiner. Written and read by all. combining-lock: what the last one did.
  alignas(false_sharing_range) atomic<bool> locked_{false};
  Sequence sequence_;
  plain<std::uint64_t> passes_;  // the lock holder's
  // first_ — the record enlisted last. Written by who enlists, read by the combiner.
  //   order  combining-listed: the record's link is there
  //   ABA    the first record is never taken out: one that is first again never was not
  alignas(false_sharing_range) atomic<record*> first_{nullptr};
};

}  // namespace polder::ds
