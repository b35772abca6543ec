// combining under the model checker: what was put comes out once, of one thread in order, nobody waits for ever, and one
// thread at a time is at work. Records grow old at once: they are taken out of the list while their owners ask again.
#include <polder/ds/parts/combining.hpp>

#include "explore.hpp"
#include "structures.hpp"

namespace {

using polder::plain;
using polder::ds::combining;
using polder::model::key;

// Its fields are checked for races: only the lock orders them. There is no memory for element 2.
class sequence {
 public:
  using element = key;
  bool put(key& k) noexcept {
    if (k.value() == 2) return false;
    const int last = last_.get();
    numbers_[last].set(k.value());
    last_.set(last + 1);
    return true;
  }
  std::optional<key> take() noexcept {
    const int first = first_.get();
    if (first == last_.get()) return std::nullopt;
    first_.set(first + 1);
    return key(numbers_[first].get());
  }

 private:
  plain<int> first_, last_;
  plain<int> numbers_[8];
};

template <unsigned Threads, unsigned Each, unsigned Old>
struct all_ask : rl::test_suite<all_ask<Threads, Each, Old>, int(Threads)> {
  using combiner = combining<sequence, Old>;
  combiner c;
  typename combiner::record records[Threads];
  int got[Threads][Threads * Each + 1] = {};

  void thread(unsigned self) {
    for (unsigned i = 0; i != Each; ++i) {
      const int number = int(self * Each + i) + 1;
      key mine(number);
      if (!c.put(records[self], mine)) {
        POLDER_MODEL_CHECK(number == 2 && mine.value() == 2);
        ++got[self][2];
        continue;
      }
      // Each takes what it has put, or another's: there is something.
      const std::optional<key> one = c.take(records[self]);
      POLDER_MODEL_CHECK(one.has_value());
      ++got[self][one->value()];
    }
  }
  void after() {
    POLDER_MODEL_CHECK(!c.take(records[0]));
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
