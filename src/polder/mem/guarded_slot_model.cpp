// guarded_slot under the model checker: its page has one user at a time, who finds it as the slot alone tells, and of two
// frees one is told that it came too late.
#include <polder/mem/guarded_slot.hpp>

#include <polder/base/align.hpp>

#include "explore.hpp"

namespace {

using polder::at_address;
using polder::atomic;
using polder::order;
using polder::plain;

struct world {
  polder::mem::guarded_slot slot;
  plain<unsigned> page;  // the block that is there; 0: out of reach
  plain<int> freed[3];

  // Blocks are numbers: where one lies, how much was asked for it, and what is written there.
  static std::byte* at(unsigned n) { return at_address(std::uintptr_t{n}); }

  bool take(unsigned n) {
    if (!slot.begin_making()) return false;
    POLDER_MODEL_CHECK(page.get() == 0);
    page.set(n);
    slot.end_making(at(n), n);
    return true;
  }
  bool give(unsigned n) {
    if (!slot.begin_giving()) return false;
    POLDER_MODEL_CHECK(slot.block() == at(n) && slot.asked() == n && page.get() == n);
    page.set(0);
    slot.end_giving();
    return true;
  }
};

// A block goes from hand to hand by a word that orders nothing: all that its next user knows of it comes from the slot.
struct handed_over : rl::test_suite<handed_over, 2>, world {
  atomic<unsigned> handed{0};
  void receive() {
    const unsigned n = handed.exchange(0, order::relaxed);
    if (n == 0) return;
    if (slot.is_live()) POLDER_MODEL_CHECK(slot.block() == at(n) && slot.asked() == n);
    POLDER_MODEL_CHECK(give(n));
  }
  void thread(unsigned self) {
    for (const unsigned n : {1u, 2u}) {
      if (self == 0 && take(n)) handed.store(n, order::relaxed);
    }
    if (self == 1) receive(), receive();
  }
  void after() {
    receive();
    POLDER_MODEL_CHECK(take(3) && give(3));
  }
};

struct two_frees : rl::test_suite<two_frees, 2>, world {
  void before() { POLDER_MODEL_CHECK(take(1)); }
  void thread(unsigned self) { freed[self].set(give(1)); }
  void after() { POLDER_MODEL_CHECK(freed[0].get() + freed[1].get() == 1 && !give(1)); }
};

// One gives, one finds no page, and one takes: from either.
struct given_up : rl::test_suite<given_up, 3>, world {
  void before() { POLDER_MODEL_CHECK(take(1)); }
  void thread(unsigned self) {
    if (self == 0) POLDER_MODEL_CHECK(give(1));
    if (self == 1 && slot.begin_making()) slot.give_up();
    if (self == 2 && take(2)) POLDER_MODEL_CHECK(give(2));
  }
  void after() { POLDER_MODEL_CHECK(take(3)); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<handed_over>(
      {.title = "guarded_slot: handed over", .how = search::bounded, .floor = 50, .switches = 3});
  ok &= passes<two_frees>({.title = "guarded_slot: two frees of one", .how = search::complete, .floor = 10});
  ok &= passes<given_up>({.title = "guarded_slot: given up", .how = search::bounded, .floor = 50, .switches = 3});
  return ok ? 0 : 1;
}
