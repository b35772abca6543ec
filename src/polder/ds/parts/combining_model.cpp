// combining under the model checker: what was put comes out once, of one thread in order, nobody waits for ever, and one
// thread at a time is at work. Records grow old at once: they are taken out of the list while their owners ask again.
#include <polder/ds/parts/combining.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::plain;
using polder::ds::combining;

// Its fields are checked for races: only the lock orders them.
class sequence {
 public:
  struct node {
    plain<int> number;
    plain<node*> next;
  };
  void put(node* n) noexcept {
    n->next.set(nullptr);
    if (last_.get() == nullptr) first_.set(n);
    else last_.get()->next.set(n);
    last_.set(n);
  }
  node* take() noexcept {
    node* const n = first_.get();
    if (n == nullptr) return nullptr;
    first_.set(n->next.get());
    if (first_.get() == nullptr) last_.set(nullptr);
    return n;
  }

 private:
  plain<node*> first_, last_;
};

template <unsigned Threads, unsigned Each, unsigned Old>
struct all_ask : rl::test_suite<all_ask<Threads, Each, Old>, int(Threads)> {
  using combiner = combining<sequence, Old>;
  combiner c;
  typename combiner::record records[Threads];
  sequence::node nodes[Threads][Each];
  int got[Threads][Threads * Each + 1] = {};

  void thread(unsigned self) {
    for (unsigned i = 0; i != Each; ++i) {
      sequence::node& mine = nodes[self][i];
      mine.number.set(int(self * Each + i) + 1);
      c.put(records[self], &mine);
      // Each takes what it has put, or another's: there is something.
      sequence::node* const n = c.take(records[self]);
      POLDER_MODEL_CHECK(n != nullptr);
      ++got[self][n->number.get()];
    }
  }
  void after() {
    POLDER_MODEL_CHECK(c.take(records[0]) == nullptr);
    for (unsigned n = 1; n <= Threads * Each; ++n) {
      int all = 0;
      for (const auto& of : got) all += of[n];
      POLDER_MODEL_CHECK(all == 1);
    }
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<all_ask<2, 1, 256>>({.title = "combining: two ask", .executions = 20'000});
  ok &= passes<all_ask<2, 3, 1>>({.title = "combining: two grow old", .executions = 20'000});
  ok &= passes<all_ask<3, 2, 1>>({.title = "combining: three grow old", .executions = 20'000});
  return ok ? 0 : 1;
}
