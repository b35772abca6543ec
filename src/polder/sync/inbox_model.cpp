// inbox under the model checker: every block posted is taken once, with its contents.
#include <polder/sync/inbox.hpp>

#include "explore.hpp"

namespace {

using polder::inbox;
using polder::plain;

struct block {
  plain<block*> next;
  plain<int> contents;
  plain<int> taken;
};

template <unsigned Posters>
struct posting {
  inbox<block> in;
  block blocks[2 * Posters];
  plain<int> found_empty[Posters];

  static void link(block* b, block* next) { b->next.set(next); }

  void post_two(unsigned poster) {
    block& first = blocks[2 * poster];
    block& last = blocks[2 * poster + 1];
    first.contents.set(1);
    last.contents.set(1);
    first.next.set(&last);
    found_empty[poster].set(in.push_list(&first, &last, link));
  }
  void take() {
    for (block* b = in.take_all(); b != nullptr;) {
      POLDER_MODEL_CHECK(b->contents.get() == 1);
      b->taken.set(b->taken.get() + 1);
      block* const next = b->next.get();
      b->next.set(nullptr);  // the memory is the taker's
      b = next;
    }
  }
  void all_taken_once() {
    int first_posts = 0;
    for (block& b : blocks) POLDER_MODEL_CHECK(b.taken.get() == 1);
    for (plain<int>& f : found_empty) first_posts += f.get();
    POLDER_MODEL_CHECK(first_posts >= 1);
  }
};

template <unsigned Posters>
struct posts_and_takes : rl::test_suite<posts_and_takes<Posters>, int(Posters) + 1>, posting<Posters> {
  void thread(unsigned self) {
    if (self < Posters) {
      this->post_two(self);
    } else {
      this->take();
      this->take();
    }
  }
  void after() {
    this->take();
    this->all_taken_once();
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<posts_and_takes<1>>({.title = "inbox: one poster", .how = search::complete, .floor = 20});
  ok &= passes<posts_and_takes<2>>(
      {.title = "inbox: two posters", .how = search::bounded, .floor = 1'000, .switches = 3});
  ok &= passes<posts_and_takes<2>>({.title = "inbox: two posters", .executions = 30'000});
  return ok ? 0 : 1;
}
