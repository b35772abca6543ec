#pragma once
// elimination — slots in which who pushes and who pops at the same time meet, so that neither needs the stack.
//
//   paper      Hendler, Shavit and Yerushalmi, "A scalable lock-free stack algorithm", SPAA 2004
//   progress   lock-free: who meets nobody leaves when its patience ends; a slot whose waiter is not run is passed by
//   in malloc  yes
//   deviation  the exchange is in the collision slot itself and hands over the node by value, as Herlihy and Shavit's exchanger
//              does (The Art of Multiprocessor Programming, sec. 11.4). The paper's threads meet through records of their
//              own, and who reads its partner's late may find the next operation's: elements twice. Here nothing is read
//              but the word that the CAS compares
//
// States of a slot. An arrow is one CAS or store; in brackets, what the thread that made it owes.
//
//              offer                 take [the node is its own]           clear
//         ┌──────────────▶ offered ───────────────────────────▶ taken ─────────────┐
//       free ◀─────────────── │ withdraw [the node is its own]                      ▼
//         │                                                                        free
//         │    want                  give [nothing]                       clear      ▲
//         └──────────────▶ wanted ────────────────────────────▶ given ─────────────┘
//       free ◀─────────────── │ withdraw                           [the node is its own]
//
// Who made it offered or wanted is its waiter, and clears it; others pass by what is taken or given.
// Invariant: a node is offered or given in at most one slot, and until then nobody but its pusher has seen it.
#include <cstddef>
#include <cstdint>
#include <memory>

#include <polder/base/config.hpp>
#include <polder/ds/parts/relax.hpp>
#include <polder/sync/atomic.hpp>
#include <polder/sync/marked_pointer.hpp>

namespace polder::ds {

template <class Node>
class elimination {
  using word = marked_pointer<Node, 2>;
  static constexpr std::uintptr_t offer = 1, want = 2, done = 3;  // offered, wanted; taken or given

 public:
  // At least one slot. Throws std::bad_alloc.
  explicit elimination(std::size_t slots) : size_(slots), slots_(std::make_unique<slot[]>(slots)) {}

  std::size_t size() const noexcept { return size_; }

  // True: who pops has the node. `patience()` says whether to wait on.
  template <class Patience>
  bool give(std::size_t at, Node* n, Patience&& patience) noexcept {
    atomic<word>& s = slots_[at].state;
    word seen = s.load(order::relaxed);
    // sync: elimination-given
    if (seen.marks() == want) return s.cas(seen, word(n, done), order::release, order::relaxed);
    if (seen != word()) return false;
    word offered(n, offer);
    if (!s.cas(seen, offered, order::release, order::relaxed)) return false;  // sync: elimination-offered
    while (s.load(order::relaxed) == offered && patience()) relax();
    if (s.cas(offered, word(), order::relaxed, order::relaxed)) return false;
    s.store(word(), order::relaxed);  // it was taken
    return true;
  }

  // A node of who pushes, or null.
  template <class Patience>
  Node* take(std::size_t at, Patience&& patience) noexcept {
    atomic<word>& s = slots_[at].state;
    word seen = s.load(order::relaxed);
    if (seen.marks() == offer) {
      Node* const n = seen.pointer();
      // sync: elimination-offered
      return s.cas(seen, word(nullptr, done), order::acquire, order::relaxed) ? n : nullptr;
    }
    const word wanted(nullptr, want);
    if (seen != word() || !s.cas(seen, wanted, order::relaxed, order::relaxed)) return nullptr;
    while (s.load(order::relaxed) == wanted && patience()) relax();
    seen = wanted;
    if (s.cas(seen, word(), order::acquire, order::acquire)) return nullptr;  // sync: elimination-given
    s.store(word(), order::relaxed);
    return seen.pointer();
  }

 private:
  struct alignas(false_sharing_range) slot {
    // state — see above.
    //   written by  who offers, wants, takes or gives, by CAS; its waiter, by a store when it is taken or given
    //   read by     the same
    //   order       elimination-offered, elimination-given: what the pusher wrote to the node. Nothing goes the other way
    //   ABA         harmless: a word that comes back is an offer that stands now; nobody has looked into its node before
    atomic<word> state;
  };

  const std::size_t size_;
  const std::unique_ptr<slot[]> slots_;
};

}  // namespace polder::ds
