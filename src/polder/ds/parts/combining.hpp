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
// Sequence has element, bool put(element&) and std::optional<element> take() (parts/sequential_queue.hpp); nothing of it
// throws.
#include <sched.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/relax.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class Sequence, unsigned Old = 256>
class combining {
  enum class request : std::uint8_t { none, put, take };

 public:
  using element = typename Sequence::element;

  // What a thread asks through, one at a time. Stays where it is as long as the combiner.
  class record {
    friend combining;
    // asks — what its owner wants done. Written by the owner, and by the combiner when it is done; read by both.
    //   order  combining-asked: what is put is there; combining-answered: so is the answer
    alignas(false_sharing_range) atomic<request> asks{request::none};
    // listed — whether it is in the list. Set by the owner, cleared by the combiner.
    //   order  combining-unlisted: the combiner has done with its link
    atomic<bool> listed{false};
    held<element> carried;     // to be put, or was taken; whose turn it is by asks
    plain<bool> done;          // the answer: it is in, or was taken; the same
    plain<record*> next;       // the owner's until it is listed, then the combiner's
    plain<std::uint64_t> age;  // the pass that last found it asking; combiner only
  };

  combining() = default;
  combining(const combining&) = delete;
  combining& operator=(const combining&) = delete;

  // False: there was no memory for it, and e is as it was.
  bool put(record& mine, element& e) noexcept {
    if (try_lock()) {
      const bool in = sequence_.put(e);
      combine();
      unlock();
      return in;
    }
    mine.carried.put(std::move(e));
    if (ask(mine, request::put)) return true;
    std::destroy_at(std::addressof(e));
    std::construct_at(std::addressof(e), mine.carried.take());
    return false;
  }
  // Nothing: it is empty.
  std::optional<element> take(record& mine) noexcept {
    if (try_lock()) {
      std::optional<element> e = sequence_.take();
      combine();
      unlock();
      return e;
    }
    if (!ask(mine, request::take)) return std::nullopt;
    return mine.carried.take();
  }

 private:
  static constexpr unsigned looks_a_lock = 8;     // at the answer; the lock is in the combiner's line
  static constexpr unsigned looks = 64;           // before the processor is given away
  static constexpr unsigned scans = 3;            // of the list, while one finds something
  static constexpr unsigned passes_a_look = Old;  // at the ages
  static constexpr unsigned old = Old;            // passes in which it did not ask

  bool ask(record& mine, request what) noexcept {
    mine.asks.store(what, order::release);  // sync: combining-asked
    for (unsigned i = 1;; ++i) {
      if (mine.asks.load(order::acquire) == request::none) return mine.done.get();  // sync: combining-answered
      if (!mine.listed.load(order::acquire)) enlist(mine);                          // sync: combining-unlisted
      if (i % looks_a_lock == 0 && try_lock()) {
        combine();
        // Listed or not, it is answered: it may just have been taken out.
        if (mine.asks.load(order::relaxed) != request::none) answer(mine);
        unlock();
        return mine.done.get();
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
    r.done.set(r.asks.load(order::relaxed) == request::put ? put_for(r) : take_for(r));
    r.age.set(passes_.get());
    r.asks.store(request::none, order::release);  // sync: combining-answered
  }
  bool put_for(record& r) noexcept {
    element e(r.carried.take());
    if (sequence_.put(e)) return true;
    r.carried.put(std::move(e));
    return false;
  }
  bool take_for(record& r) noexcept {
    std::optional<element> e = sequence_.take();
    if (e) r.carried.put(std::move(*e));
    return e.has_value();
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
