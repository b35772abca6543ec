// lent_slots under the model checker: a slot has one holder at a time, who finds it as the last one left it, and who scans
// looks at every slot there is.
#include <polder/smr/hazard/lent_slots.hpp>

#include <cstddef>
#include <memory>

#include "explore.hpp"

// Rows are aligned, and Relacy replaces the other ones alone.
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {

using polder::plain;
using polder::smr::hazard_slot;
using polder::smr::lent_slots;

constexpr unsigned row = 8;

template <unsigned Threads>
struct world {
  lent_slots slots;
  // By the order in which a scan finds them: who had the slot last.
  struct use {
    const hazard_slot* slot = nullptr;
    plain<unsigned> holder;
  };
  use uses[row * (Threads + 1)];
  unsigned grown[Threads + 1] = {};

  plain<unsigned>& holder_of(const hazard_slot& s) {
    for (use& u : uses) {
      if (u.slot == nullptr) u.slot = &s;
      if (u.slot == &s) return u.holder;
    }
    std::abort();
  }
  hazard_slot& lend(unsigned self) {
    hazard_slot& s = slots.lend([&](unsigned n) { grown[self] += n; });
    POLDER_MODEL_CHECK(s.mine() == nullptr);
    holder_of(s).set(self + 1);
    s.publish(this);
    return s;
  }
  void give_back(unsigned self, hazard_slot& s) {
    POLDER_MODEL_CHECK(s.mine() == this && holder_of(s).get() == self + 1);
    lent_slots::give_back(s);
  }
  void lend_and_give_back(unsigned self) { give_back(self, lend(self)); }
  unsigned published() const {
    unsigned n = 0;
    slots.each([&](const hazard_slot& s) { n += s.read() != nullptr; });
    return n;
  }
  void all_given_back() {
    unsigned there = 0, made = 0;
    slots.each([&](const hazard_slot& s) {
      POLDER_MODEL_CHECK(s.read() == nullptr);
      ++there;
    });
    for (const unsigned n : grown) made += n;
    POLDER_MODEL_CHECK(there == made);
  }
};

// The first ones make rows, and maybe one each.
struct two_holders : rl::test_suite<two_holders, 3>, world<3> {
  void thread(unsigned self) {
    if (self == 2) {
      POLDER_MODEL_CHECK(published() <= 2);
    } else {
      lend_and_give_back(self);
      lend_and_give_back(self);
    }
  }
  void after() { all_given_back(); }
};

// One slot is left for two, and behind it a row is made.
struct full_row : rl::test_suite<full_row, 2>, world<2> {
  hazard_slot* of_others[row - 1];
  void before() {
    for (hazard_slot*& s : of_others) s = &lend(2);
  }
  void thread(unsigned self) {
    lend_and_give_back(self);
    POLDER_MODEL_CHECK(published() >= row - 1);
  }
  void after() {
    for (hazard_slot* const s : of_others) give_back(2, *s);
    all_given_back();
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<two_holders>({.title = "lent slots: two holders", .executions = 20'000});
  ok &= passes<full_row>({.title = "lent slots: the last of a row", .executions = 20'000});
  return ok ? 0 : 1;
}
