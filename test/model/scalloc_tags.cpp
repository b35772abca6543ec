// The span-pool's stacks as printed (Aigner et al. 2015, sec. 3.3), under the model checker: a Treiber stack whose links
// carry an ABA counter of so many bits. The paper has 16 beside an address of 48, and says that they make ABA "unlikely".
//
// One bit must fail: a thread that sleeps in a pop while two others of the same stack succeed, and the first of the spans
// is back on top, takes a link that is no longer true. With k bits it takes 2^k pops. The heap's pool has 32
// (sync/index_stack.hpp). As the width only sets how many pops are needed, two bits pass this scenario and 16 pass it too.
#include <cstdint>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::order;

struct span {
  atomic<std::uint64_t> link;
  unsigned number = 0;
};

template <unsigned TagBits>
class printed_stack {
  static constexpr unsigned address_bits = 48;
  static constexpr std::uint64_t address_mask = (std::uint64_t{1} << address_bits) - 1;
  static constexpr std::uint64_t tag_mask = (std::uint64_t{1} << TagBits) - 1;

  static span* top(std::uint64_t w) { return reinterpret_cast<span*>(w & address_mask); }
  static std::uint64_t counted(std::uint64_t w, span* next) {
    const std::uint64_t tag = ((w >> address_bits) + 1) & tag_mask;
    return tag << address_bits | reinterpret_cast<std::uint64_t>(next);
  }

 public:
  void put(span* s) {
    std::uint64_t now = head_.load(order::relaxed);
    do {
      s->link.store(now & address_mask, order::relaxed);
    } while (!head_.cas(now, (now & ~address_mask) | reinterpret_cast<std::uint64_t>(s), order::release,
                        order::relaxed));
  }
  span* get() {
    std::uint64_t now = head_.load(order::acquire);
    while (span* const s = top(now)) {
      span* const next = reinterpret_cast<span*>(s->link.load(order::relaxed));
      if (head_.cas(now, counted(now, next), order::acquire, order::acquire)) return s;
    }
    return nullptr;
  }

 private:
  atomic<std::uint64_t> head_{0};
};

// One thread pops; the other takes two, gives the first back: two pops, which one bit counts as none.
template <unsigned TagBits>
struct delayed_get : rl::test_suite<delayed_get<TagBits>, 2> {
  span spans[3];
  printed_stack<TagBits> stack;
  unsigned held[3] = {};

  void take(span* s) {
    if (s == nullptr) return;
    POLDER_MODEL_CHECK(held[s->number] == 0);
    held[s->number] = 1;
  }
  void before() {
    for (unsigned i = 3; i-- != 0;) {
      spans[i].number = i;
      stack.put(&spans[i]);
    }
  }
  void thread(unsigned self) {
    if (self == 0) {
      take(stack.get());
      take(stack.get());
    } else {
      span* const first = stack.get();
      take(first);
      take(stack.get());
      if (first == nullptr) return;
      held[first->number] = 0;
      stack.put(first);
    }
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &=
      must_fail<delayed_get<1>>({.title = "scalloc's pool, a tag of 1 bit", .how = search::bounded, .switches = 2});
  ok &= passes<delayed_get<2>>(
      {.title = "scalloc's pool, a tag of 2 bits", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<delayed_get<16>>(
      {.title = "scalloc's pool, a tag of 16 bits", .how = search::bounded, .floor = 100, .switches = 3});
  return ok ? 0 : 1;
}
