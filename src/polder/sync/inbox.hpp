#pragma once
// inbox — where any thread leaves lists of blocks for one taker.
//
//   paper      Treiber's stack with take-all only; scalloc (Aigner et al. 2015, sec. 5) has one in every span
//   progress   push_list lock-free; take_all wait-free
//   in malloc  yes: allocates nothing, locks nothing, async-signal-safe
//   deviation  no count in the word: the taker counts as it walks
//
// States. An arrow is one successful CAS or exchange; in brackets, what the thread that made it owes.
//
//             push_list, was empty [look whether somebody will come: gate::posted]
//          ┌─────────────────────────────┐
//          │                             ▼
//        empty                        waiting ◀─┐ push_list [the same]
//          ▲                             │ └────┘
//          └─────────────────────────────┘
//             take_all [every block is mine]
//
// Invariant, in every state: blocks pushed == blocks taken + blocks waiting.
#include <polder/base/check.hpp>
#include <polder/sync/atomic.hpp>

namespace polder {

template <class Block>
class inbox {
 public:
  inbox() noexcept = default;  // empty, all-zero; constexpr in the native world
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;

  // Leaves first … last, already chained. `link(block, next)` writes the link of the last one, once per attempt; it is
  // a callable because a heap's free blocks carry a key over their link. True: the inbox was empty before.
  template <class Link>
  bool push_list(Block* first, Block* last, Link&& link) noexcept {
    POLDER_CHECK(1, first != nullptr && last != nullptr);
    Block* now = head_.load(order::relaxed);
    do {
      link(last, now);  // `now` is not read through: it may have been taken, and its memory unmapped
    } while (!head_.cas(now, first, order::release, order::relaxed));  // sync: inbox-post
    return now == nullptr;
  }

  // Every block, the last list first, the last link null. One taker at a time makes sense, more are harmless.
  [[nodiscard]] Block* take_all() noexcept {
    if (empty()) return nullptr;                     // a look is cheaper than taking the line
    return head_.exchange(nullptr, order::acquire);  // sync: inbox-post
  }

  // The block posted last. For tests: nobody may post or take meanwhile.
  [[nodiscard]] const Block* waiting() const noexcept { return head_.load(order::relaxed); }

  // Relaxed: who must not miss a post puts a fence before it (gate::settle).
  [[nodiscard]] bool empty() const noexcept { return head_.load(order::relaxed) == nullptr; }

 private:
  // head_ — the block posted last.
  //   written by  any poster by CAS, the taker by exchange
  //   read by     the same
  //   order       inbox-post: a poster's release publishes the links and the blocks' contents; the taker's acquire
  //                 makes them readable. Posts are RMWs, so the taker synchronizes with all of them: one release
  //                 sequence.
  //   ABA         no tag: a poster writes `now` into its own block and never reads through it, so the same head with
  //                 other blocks behind it is as good; the taker takes whatever is there
  atomic<Block*> head_;
};

}  // namespace polder
