// two_sided_queue under the model checker: one puts and one takes, over the ends of chunks and with one that was emptied. What
// was put comes out in order, and neither touches what the other still uses.
#include <polder/ds/parts/two_sided_queue.hpp>

#include <cstdlib>
#include <cstring>
#include <optional>

#include "explore.hpp"
#include "structures.hpp"

namespace {

using polder::model::key;

// What is freed is overwritten.
struct memory {
  static void* operator new(std::size_t bytes) { return std::malloc(bytes); }
  static void operator delete(void* p, std::size_t bytes) { std::free(std::memset(p, 0xdd, bytes)); }
};

template <unsigned Before, unsigned Puts, unsigned Takes>
struct ends : rl::test_suite<ends<Before, Puts, Takes>, 2> {
  polder::ds::two_sided_queue<key, memory, 1> queue;
  int put = 0, got = 0;

  void put_one() {
    key k(++put);
    POLDER_MODEL_CHECK(queue.put(k));
  }
  bool got_one() {
    const std::optional<key> k = queue.take();
    if (k) POLDER_MODEL_CHECK(k->value() == ++got);
    return k.has_value();
  }
  void before() {
    for (unsigned i = 0; i != Before; ++i) put_one();
  }
  void thread(unsigned self) {
    if (self == 0) {
      for (unsigned i = 0; i != Puts; ++i) put_one();
    } else {
      for (unsigned i = 0; i != Takes; ++i) POLDER_MODEL_CHECK(got_one() || i >= Before);
    }
  }
  void after() {
    while (got_one()) {
    }
    POLDER_MODEL_CHECK(got == put && queue.empty());
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &=
      passes<ends<0, 2, 3>>({.title = "two sides: from none", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<ends<3, 3, 4>>(
      {.title = "two sides: emptied chunks", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<ends<3, 3, 4>>({.title = "two sides: emptied chunks", .executions = 20'000});
  return ok ? 0 : 1;
}
