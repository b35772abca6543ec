// anchor under the model checker: blocks given are read by who takes them, and whoever empties a superblock may unmap
// what every giver wrote.
#include <polder/mem/anchor.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::plain;
using polder::mem::anchor;
using polder::mem::anchor_word;
using polder::mem::fill;

template <std::uint32_t Blocks>
struct superblock {
  static constexpr std::uint32_t none = Blocks;
  anchor word;
  plain<std::uint32_t> link[Blocks];
  plain<int> held[Blocks];
  plain<std::uint32_t> capacity;  // of the descriptor: read by givers, written by who uses it again
  plain<int> unmapped;
  plain<int> may_list;  // owed by the step from full
  atomic<int> listed;   // the partial list
  plain<int> retired;

  void open() {
    capacity.set(Blocks);
    word.open(Blocks);
    for (auto& h : held) h.set(1);
  }
  // Gives blocks first … last, n of them, chained upwards.
  void give(std::uint32_t first, std::uint32_t n) {
    const std::uint32_t last = first + n - 1;
    for (std::uint32_t b = first; b <= last; ++b) {
      held[b].set(0);
      if (b != last) link[b].set(b + 1);
    }
    const auto [from, to] = word.give(first, n, capacity.get(), [&](std::uint32_t next) { link[last].set(next); });
    if (to == fill::empty) {
      for (std::uint32_t b = 0; b != Blocks; ++b) link[b].set(none);  // unmapped: after everybody's last write
      unmapped.set(unmapped.get() + 1);
    }
    if (from == fill::full) {
      if (to == fill::partial) listed.store(1, order::release);
      else retire();
    }
  }
  void retire() {
    POLDER_MODEL_CHECK(word.seen().state() == fill::empty);
    retired.set(retired.get() + 1);
    capacity.set(77);  // another superblock's
  }
  // What a fill does when it finds the descriptor on the list: the blocks had.
  std::uint32_t take(std::uint32_t* had) {
    if (listed.exchange(0, order::acquire) == 0) return 0;
    const anchor_word was = word.take_all(Blocks);
    if (was.state() == fill::empty) return retire(), 0;
    std::uint32_t at = was.avail();
    for (std::uint32_t i = 0; i != was.count(); ++i) {
      POLDER_MODEL_CHECK(at < Blocks && held[at].get() == 0);
      had[i] = at;
      held[at].set(1);
      at = link[at].get();
    }
    return was.count();
  }
};

// Three threads give a block each; a fourth's part is played afterwards: all are there.
struct gives : rl::test_suite<gives, 3>, superblock<4> {
  void before() { open(); }
  void thread(unsigned self) { give(self, 1); }
  void after() {
    std::uint32_t had[4];
    POLDER_MODEL_CHECK(take(had) == 3);
    POLDER_MODEL_CHECK(word.seen() == anchor_word::full(4));
  }
};

// Two give all blocks: one of them unmaps, and the descriptor is retired once.
struct last_gives : rl::test_suite<last_gives, 2>, superblock<2> {
  void before() { open(); }
  void thread(unsigned self) { give(self, 1); }
  void after() {
    std::uint32_t had[2];
    POLDER_MODEL_CHECK(take(had) == 0);
    POLDER_MODEL_CHECK(unmapped.get() == 1 && retired.get() == 1);
  }
};

// Two give while the third takes what it finds and gives it back.
struct gives_and_takes : rl::test_suite<gives_and_takes, 3>, superblock<3> {
  void before() {
    open();
    give(2, 1);
  }
  void thread(unsigned self) {
    if (self < 2) return give(self, 1);
    std::uint32_t had[3];
    const std::uint32_t n = take(had);
    for (std::uint32_t i = 0; i != n; ++i) give(had[i], 1);
  }
  void after() {
    std::uint32_t had[3];
    POLDER_MODEL_CHECK(take(had) == 0);
    POLDER_MODEL_CHECK(unmapped.get() == 1 && retired.get() == 1);
  }
};

// All at once, straight from full: nobody else ever knew.
struct at_once : rl::test_suite<at_once, 2>, superblock<2> {
  void before() { open(); }
  void thread(unsigned self) {
    if (self == 0) give(0, 2);
    std::uint32_t had[2];
    if (self == 1) POLDER_MODEL_CHECK(take(had) == 0);
  }
  void after() { POLDER_MODEL_CHECK(unmapped.get() == 1 && retired.get() == 1); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<gives>({.title = "anchor: three gives", .how = search::bounded, .floor = 50, .switches = 3});
  ok &= passes<last_gives>({.title = "anchor: the last blocks", .how = search::complete, .floor = 5});
  ok &= passes<at_once>({.title = "anchor: all blocks at once", .how = search::complete, .floor = 2});
  ok &= passes<gives_and_takes>(
      {.title = "anchor: gives and takes", .how = search::bounded, .floor = 200, .switches = 3});
  ok &= passes<gives_and_takes>({.title = "anchor: gives and takes", .executions = 30'000});
  return ok ? 0 : 1;
}
