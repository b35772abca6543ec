#pragma once
// meeting_slot — where one thread waits for a node, and another that comes by hands it one.
//
//   paper      Afek, Hakimi and Morrison, "Fast and scalable rendezvousing", DISC 2011
//   progress   wait-free
//   in malloc  yes
//   deviation  a slot has no pointer to its waiter, who looks into the slot itself
//
// An arrow is one step; in brackets, who makes it and owes what.
//
//             wait [who wants a node: look, for a while]
//     free ──────────────────────────────────────────────▶ waited for ──meet [who has one]──▶ a node
//       ▲ ▲                                                    │                                 │
//       │ └──────── leave [who waits: it has got nothing] ─────┘                                 │
//       └────────── leave [who waits: it has the node, which nobody else sees] ──────────────────┘
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class Node>
class alignas(false_sharing_range) meeting_slot {
 public:
  // A hint.
  bool is_awaited() const noexcept { return now_.load(order::relaxed) == word::waited_for(); }

  // False: nobody waits here.
  bool meet(Node* n) noexcept {
    word now = word::waited_for();
    return now_.cas(now, word(n), order::release, order::relaxed);  // sync: met
  }

  // False: somebody else waits here, or has a node to take. Else leave() is owed.
  bool wait() noexcept {
    word free;
    return now_.load(order::relaxed) == free && now_.cas(free, word::waited_for(), order::relaxed, order::relaxed);
  }
  // Who waits; null: nobody came.
  Node* leave() noexcept {
    word now = word::waited_for();
    if (now_.cas(now, word(), order::acquire, order::acquire)) return nullptr;  // sync: met
    now_.store(word(), order::relaxed);
    return now.met();
  }

 private:
  class word {
   public:
    constexpr word() noexcept = default;  // free
    explicit word(Node* n) noexcept : bits_(reinterpret_cast<std::uintptr_t>(n)) {}
    static constexpr word waited_for() noexcept { return word(std::uintptr_t{1}); }
    Node* met() const noexcept { return bits_ > 1 ? reinterpret_cast<Node*>(bits_) : nullptr; }
    friend bool operator==(word, word) noexcept = default;

   private:
    explicit constexpr word(std::uintptr_t bits) noexcept : bits_(bits) {}
    std::uintptr_t bits_ = 0;
  };

  // now_ — the state. Written by who waits, and by the one who meets; read by both.
  //   order  met: the node is whole
  //   ABA    harmless: it does not matter who of those that wait one after the other is met
  atomic<word> now_;
};

}  // namespace polder::ds
