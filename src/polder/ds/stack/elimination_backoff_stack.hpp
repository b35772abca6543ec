#pragma once
// elimination_backoff_stack — a Treiber stack whose threads, when they get into each other's way, look for a partner instead.
//
//   paper      Hendler, Shavit and Yerushalmi, "A scalable lock-free stack algorithm", SPAA 2004
//   progress   lock-free: an operation repeats only when another got through; the wait for a partner has an end
//   in malloc  no: put allocates
//   deviation  the stack is tried before partners are looked for: alone it is a Treiber stack. A push and a pop meet in the
//              collision array itself (parts/elimination.hpp). The paper adapts each thread's part of the array and its wait;
//              here it is the wait of all, which doubles when a partner came and halves when none did, so that it is short
//              where threads share processors and cannot meet
//
// Linearization: of an operation on the stack, its CAS; of a pair that meets, the CAS by which its second takes or gives: push
// at once followed by pop, both under way.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/elimination.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/treiber_top.hpp>
#include <polder/os/processors.hpp>
#include <polder/os/ticks.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class elimination_backoff_stack : public collection<elimination_backoff_stack<T, R, Memory>, T, in_node<T>>,
                                  public stack_names<elimination_backoff_stack<T, R, Memory>, T> {
 public:
  static constexpr collection_info info = {
      .name = "elimination-backoff-stack",
      .title = "elimination-backoff stack",
      .kind = shape::stack,
      .order = semantics::linearizable,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Hendler, Shavit and Yerushalmi, SPAA 2004",
      .year = 2004,
      .parameters =
          "collisions: slots to meet in (0: a tenth of the processors, at least 1); delay: the longest wait for a "
          "partner, in ticks of the processor's counter (15000)",
      .protection = needs::pointer,
  };
  using kept = typename in_node<T>::kept;

  // Throws std::bad_alloc.
  explicit elimination_backoff_stack(typename R::domain& domain, std::size_t collisions = 0,
                                     std::uint32_t delay = 15'000)
      : domain_(domain),
        delay_(delay),
        patience_(delay),
        slots_(collisions != 0 ? collisions : usual_collisions()) {}
  elimination_backoff_stack(const elimination_backoff_stack&) = delete;
  elimination_backoff_stack& operator=(const elimination_backoff_stack&) = delete;
  ~elimination_backoff_stack() {
    while (remove()) {
    }
  }

 private:
  friend collection<elimination_backoff_stack, T, in_node<T>>;

  struct node : R::header, Memory {
    explicit node(kept&& e) noexcept : element(std::move(e)) {}
    plain<pointer_or_end<node>> next;  // written before the node is linked
    held<kept> element;                // the same; taken by who unlinked the node, or got it from who pushed
  };
  using guard = typename R::template guard<1>;
  static constexpr std::uint32_t least_patience = 64;

  // The paper's threads run at once; more than there are processors do not.
  static std::size_t usual_collisions() noexcept { return std::max((os::processors() + 1) / 10, 1u); }

  bool insert(kept& e) {
    guard g(domain_);
    node* const n = g.template make<node>(std::move(e));
    while (!top_.try_push(g, n)) {
      if (meet([&](std::size_t at, auto&& patience) { return slots_.give(at, n, patience); })) break;
    }
    return true;
  }

  std::optional<kept> remove() {
    guard g(domain_);
    for (;;) {
      const auto [top, popped, empties] = top_.try_pop(g);
      if (top == nullptr) return std::nullopt;
      if (popped) {
        std::optional<kept> e(top->element.take());
        g.retire(top);
        return e;
      }
      if (node *const n = meet([&](std::size_t at, auto&& patience) { return slots_.take(at, patience); })) {
        std::optional<kept> e(n->element.take());
        g.unmake(n);  // it has never been linked
        return e;
      }
    }
  }

  template <class Exchange>
  auto meet(Exchange&& exchange) noexcept {
    const std::uint64_t begun = os::ticks();
    const std::uint32_t longest = patience_.load(order::relaxed);
    bool waited_to_the_end = false;
    // Ticks are as random as a choice among so few must be: their low bits, stirred.
    const std::size_t at = std::size_t((begun * 0x9e37'79b9'7f4a'7c15u) >> 32) % slots_.size();
    const auto met = exchange(at, [&] {
      waited_to_the_end = os::ticks() - begun >= longest;
      return !waited_to_the_end;
    });
    if (met)
      patience_.store(std::uint32_t(std::min<std::uint64_t>(std::uint64_t{longest} * 2, delay_)), order::relaxed);
    else if (waited_to_the_end)
      patience_.store(std::min(std::max(longest / 2, least_patience), delay_), order::relaxed);
    return met;
  }

  typename R::domain& domain_;
  const std::uint32_t delay_;
  // patience_ — how many ticks the next one waits. Written and read by who looks for a partner; a lost change is harmless.
  atomic<std::uint32_t> patience_;
  treiber_top<node> top_;
  elimination<node> slots_;
};

}  // namespace polder::ds
