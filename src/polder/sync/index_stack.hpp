#pragma once
// index_stack — a stack of 32-bit indices whose links lie outside.
//
//   paper      Treiber, IBM RJ 5118, 1986; the tag is System/370's
//   progress   lock-free: push, pop and take_all retry only when another thread succeeded
//   in malloc  yes: allocates nothing, locks nothing, async-signal-safe
//   deviation  indices and a 32-bit tag in one word instead of pointers and a double-word CAS
//
// States. An arrow is one successful CAS; in brackets, what the thread that made it owes or owns.
//
//             push [index is no longer mine]
//          ┌──────────────────────────────────┐
//          │                                  ▼
//        empty                              listed ◀─┐ push; pop, more remain
//          ▲                                  │ └────┘
//          └──────────────────────────────────┘
//             pop, the last one [index is mine]
//             take_all [every index is mine; the links chain them, none ends them]
//
// Invariant, in every state: indices listed + indices held outside == indices given to push for the first time.
//
// Index 0 is reserved and means none, so that all-zero memory is an empty stack.
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/sync/atomic.hpp>

namespace polder {

class index_stack {
 public:
  static constexpr std::uint32_t none = 0;

  index_stack() noexcept = default;  // empty; constexpr in the native world
  index_stack(const index_stack&) = delete;
  index_stack& operator=(const index_stack&) = delete;

  // `links(i)` is the link of index i: an atomic<std::uint32_t>&. It must stay readable for ever, listed or not:
  // pop() reads through an index that another thread may already hold.
  template <class Links>
  void push(std::uint32_t index, Links&& links) noexcept {
    push_list(index, index, links);
  }

  // Pushes first … last, already chained by their links; the link of `last` is written here.
  template <class Links>
  void push_list(std::uint32_t first, std::uint32_t last, Links&& links) noexcept {
    POLDER_CHECK(1, first != none && last != none);
    head now = head_.load(order::relaxed);
    do {
      links(last).store(now.first(), order::relaxed);
    } while (!head_.cas(now, head(first, now.tag()), order::release, order::relaxed));  // sync: stack-push
  }

  // The index pushed last, or none.
  template <class Links>
  [[nodiscard]] std::uint32_t pop(Links&& links) noexcept {
    head now = head_.load(order::acquire);  // sync: stack-push
    while (now.first() != none) {
      const std::uint32_t next = links(now.first()).load(order::relaxed);  // may be stale: then the tag differs
      if (head_.cas(now, head(next, now.tag() + 1), order::acquire, order::acquire)) {  // sync: stack-push
        return now.first();
      }
    }
    return none;
  }

  // The whole stack: the index pushed last, the others chained behind it by their links, the last link none.
  template <class Links>
  [[nodiscard]] std::uint32_t take_all(Links&&) noexcept {
    head now = head_.load(order::relaxed);
    while (now.first() != none) {
      if (head_.cas(now, head(none, now.tag() + 1), order::acquire, order::relaxed)) {  // sync: stack-push
        return now.first();
      }
    }
    return none;
  }

  // Calls f(index) from the top down. For tests: nobody may push or pop meanwhile.
  template <class Links, class F>
  void walk(Links&& links, F&& f) const noexcept {
    for (std::uint32_t i = head_.load(order::relaxed).first(); i != none; i = links(i).load(order::relaxed)) f(i);
  }

  // A hint: it may be out of date before it is returned.
  [[nodiscard]] bool empty() const noexcept { return head_.load(order::relaxed).first() == none; }

 private:
  //  63        32 31         0
  //  ┌───────────┬───────────┐
  //  │    tag    │   first   │   first: index on top; tag: how often something was taken
  //  └───────────┴───────────┘
  class head {
   public:
    constexpr head() = default;
    constexpr head(std::uint32_t first, std::uint32_t tag) : bits_{std::uint64_t{tag} << 32 | first} {}
    constexpr std::uint32_t first() const { return std::uint32_t(bits_); }
    constexpr std::uint32_t tag() const { return std::uint32_t(bits_ >> 32); }

   private:
    std::uint64_t bits_ = 0;
  };

  // head_ — top of the stack and the tag.
  //   written by  any thread, by CAS only
  //   read by     any thread
  //   order       stack-push: a pusher's release publishes the links and whatever it wrote about its indices; the
  //                 acquire of pop (both loads: the first and that of a failed CAS) and of take_all makes them
  //                 readable. All writes are RMWs, so an acquire that reads a later push's or pop's word still
  //                 synchronizes with every earlier push: one release sequence. Hence the CAS of a successful pop
  //                 needs no order of its own; it says acquire because compilers want no failure order above it.
  //   ABA         pop reads the link of the top before its CAS. If the top was taken, and pushed again over another
  //                 index, in between, then something was taken and the tag has grown: the CAS fails. It takes 2^32
  //                 removals during one such interval, and the same index on top again, to deceive it. push and
  //                 take_all read through nothing: for them ABA is harmless; take_all still counts, for pop's sake.
  atomic<head> head_;
};

}  // namespace polder
