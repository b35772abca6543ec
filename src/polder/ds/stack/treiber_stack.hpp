#pragma once
// treiber_stack — a list behind one word.
//
//   paper      Treiber, "Systems programming: coping with parallelism", IBM RJ 5118, 1986
//   progress   lock-free: an operation repeats only when another got through
//   in malloc  no: put allocates
//   deviation  no counter beside the pointer: a guard keeps the node that was read from being used again
//
// Its states and their argument: parts/treiber_top.hpp.
#include <cstdint>
#include <optional>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/place.hpp>
#include <polder/ds/parts/treiber_top.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory, class Place = uncounted>
class treiber_stack : public collection<treiber_stack<T, R, Memory, Place>, T, in_node<T>>,
                      public stack_names<treiber_stack<T, R, Memory, Place>, T> {
 public:
  static constexpr collection_info info = {
      .name = "treiber-stack",
      .title = "Treiber stack",
      .kind = shape::stack,
      .order = semantics::linearizable,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Treiber, IBM RJ 5118, 1986",
      .year = 1986,
      .protection = needs::pointer,
  };
  using kept = typename in_node<T>::kept;

  explicit treiber_stack(typename R::domain& domain) noexcept : domain_(domain) {}
  treiber_stack(const treiber_stack&) = delete;
  treiber_stack& operator=(const treiber_stack&) = delete;
  ~treiber_stack() {
    while (remove()) {
    }
  }

  // What follows is for structures that are made of several (parts/distributed.hpp).

  // Throws std::bad_alloc; e is as it was then.
  bool insert(kept& e) {
    guard g(domain_);
    node* const n = g.template make<node>(std::move(e));
    while (!top_.try_push(g, n)) {
    }
    return true;
  }

  std::optional<kept> remove() {
    std::uint64_t ignored;
    return remove(ignored);
  }
  // Empty: `seen` is how often the stack became so until then.
  std::optional<kept> remove(std::uint64_t& seen) {
    guard g(domain_);
    for (;;) {
      const auto [top, popped, empties] = top_.try_pop(g);
      if (top == nullptr) {
        seen = empties;
        return std::nullopt;
      }
      if (!popped) continue;
      std::optional<kept> e(top->element.take());
      g.retire(top);
      return e;
    }
  }

  // How many are inside.
  std::uint64_t length()
    requires Place::counts
  {
    guard g(domain_);
    return top_.length(g);
  }

 private:
  friend collection<treiber_stack, T, in_node<T>>;

  struct node : R::header, Memory {
    explicit node(kept&& e) noexcept : element(std::move(e)) {}
    plain<pointer_or_end<node>> next;   // written before the node is linked
    [[no_unique_address]] Place place;  // the same: with itself, how many there are from here down
    held<kept> element;                 // the same; taken by who unlinked the node
  };
  using guard = typename R::template guard<1>;

  typename R::domain& domain_;
  treiber_top<node> top_;
};

}  // namespace polder::ds
