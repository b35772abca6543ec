// index_stack under the model checker: an index has one holder, its contents travel with it, none is lost.
#include <polder/sync/index_stack.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::index_stack;
using polder::plain;

constexpr unsigned indices = 3;

// 3 is on top of 2 is on top of 1. Each index has one plain word: whoever holds the index may touch it.
struct stocked {
  index_stack stack;
  atomic<std::uint32_t> links[indices + 1];
  plain<int> contents[indices + 1];

  auto link() {
    return [this](std::uint32_t i) -> atomic<std::uint32_t>& { return links[i]; };
  }
  void stock() {
    for (std::uint32_t i = 1; i <= indices; ++i) stack.push(i, link());
  }
  std::uint32_t pop() {
    const std::uint32_t i = stack.pop(link());
    if (i != index_stack::none) touch(i);
    return i;
  }
  void touch(std::uint32_t i) { contents[i].set(contents[i].get() + 1); }
  void push(std::uint32_t i) {
    if (i == index_stack::none) return;
    touch(i);
    stack.push(i, link());
  }
  void take_and_return() {
    std::uint32_t first = stack.take_all(link());
    if (first == index_stack::none) return;
    std::uint32_t last = first;
    for (std::uint32_t i = first; i != index_stack::none; i = links[i].load(polder::order::relaxed))
      touch(last = i);
    stack.push_list(first, last, link());
  }
  void all_there() {
    bool seen[indices + 1] = {};
    for (unsigned n = 0; n != indices; ++n) {
      const std::uint32_t i = stack.pop(link());
      POLDER_MODEL_CHECK(i != index_stack::none && !seen[i]);
      seen[i] = true;
    }
    POLDER_MODEL_CHECK(stack.pop(link()) == index_stack::none);
  }
};

// The classic trap: one thread pops while the other takes two and returns the first.
struct aba : rl::test_suite<aba, 2>, stocked {
  void before() { stock(); }
  void thread(unsigned self) {
    if (self == 0) {
      push(pop());
    } else {
      const std::uint32_t first = pop();
      const std::uint32_t second = pop();
      push(first);
      push(second);
    }
  }
  void after() { all_there(); }
};

struct three_holders : rl::test_suite<three_holders, 3>, stocked {
  void before() { stock(); }
  void thread(unsigned) {
    const std::uint32_t first = pop();
    const std::uint32_t second = pop();
    push(first);
    push(second);
    push(pop());
  }
  void after() { all_there(); }
};

struct with_taker : rl::test_suite<with_taker, 3>, stocked {
  void before() { stock(); }
  void thread(unsigned self) {
    if (self == 0) {
      take_and_return();
      take_and_return();
    } else {
      const std::uint32_t first = pop();
      push(pop());
      push(first);
    }
  }
  void after() { all_there(); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<aba>(
      {.title = "index_stack: pop against pop, pop, push", .how = search::bounded, .floor = 1'000, .switches = 3});
  ok &= passes<aba>({.title = "index_stack: pop against pop, pop, push", .executions = 30'000});
  ok &= passes<three_holders>(
      {.title = "index_stack: three holders", .how = search::bounded, .floor = 1'000, .switches = 2});
  ok &= passes<three_holders>({.title = "index_stack: three holders", .executions = 30'000});
  ok &= passes<with_taker>(
      {.title = "index_stack: take_all among holders", .how = search::bounded, .floor = 1'000, .switches = 2});
  ok &= passes<with_taker>({.title = "index_stack: take_all among holders", .executions = 30'000});
  return ok ? 0 : 1;
}
