#pragma once
// treiber_stack — a list behind one word.
//
//   paper      Treiber, "Systems programming: coping with parallelism", IBM RJ 5118, 1986
//   progress   lock-free: an operation repeats only when another got through
//   in malloc  no: put allocates
//
// Its states and their argument: parts/treiber_top.hpp.
#include <optional>
#include <utility>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/treiber_top.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class treiber_stack : public collection<treiber_stack<T, R, Memory>, T, in_node<T>>,
                      public stack_names<treiber_stack<T, R, Memory>, T> {
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

 private:
  friend collection<treiber_stack, T, in_node<T>>;

  struct node : R::header, Memory {
    explicit node(kept&& e) noexcept : element(std::move(e)) {}
    plain<node*> next;   // written before the node is linked
    held<kept> element;  // the same; taken by who unlinked the node
  };
  using guard = typename R::template guard<1>;

  bool insert(kept& e) {
    guard g(domain_);
    node* const n = g.template make<node>(std::move(e));
    while (!top_.try_push(n)) {
    }
    return true;
  }

  std::optional<kept> remove() {
    guard g(domain_);
    for (;;) {
      const auto [top, popped] = top_.try_pop(g);
      if (top == nullptr) return std::nullopt;
      if (!popped) continue;
      std::optional<kept> e(top->element.take());
      g.retire(top);
      return e;
    }
  }

  typename R::domain& domain_;
  treiber_top<node> top_;
};

}  // namespace polder::ds
