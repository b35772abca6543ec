// split_ordered_map under the model checker: no key is lost from sight while the table grows and buckets are opened.
#include <polder/ds/tree/split_ordered_map.hpp>

#include <cstddef>
#include <optional>

#include "explore.hpp"
#include "structures.hpp"

// Relacy has operators new and delete of its own, but for this one.
void operator delete[](void* p, std::size_t) noexcept { operator delete[](p); }

namespace {

using polder::plain;
using polder::model::none;

using keeping = polder::model::keeping<2, 3, 16>;

// A key, or a sentinel's, which is made from nothing.
struct number {
  plain<int> n;
  number() = default;
  explicit number(int i) : n(i) {}
  number(const number& other) noexcept : n(other.n.get()) {}
  friend bool operator<(const number& a, const number& b) { return a.n.get() < b.n.get(); }
};

// The bucket is a key's five bits read backwards, or of the first 16 buckets the upper four.
struct upper_bits {
  std::uint64_t operator()(const number& k) const { return std::uint64_t(k.n.get()) << 59; }
};

// Every key is counted.
struct all {
  static constexpr std::uint64_t of = 16;
  static bool has(std::uint64_t) noexcept { return true; }
};

struct world {
  keeping::domain domain;
  std::optional<polder::ds::split_ordered_map<number, none, keeping, upper_bits, all>> map{domain};

  void put(int k) { POLDER_MODEL_CHECK(map->insert(number(k))); }
  void has(int k) const { POLDER_MODEL_CHECK(map->contains(number(k))); }
  // At least so many: who puts and has yet to hear that the table grew lets it grow again.
  void ends_with(std::size_t keys, std::size_t buckets) {
    POLDER_MODEL_CHECK(map->size_slow() == keys && map->buckets() >= buckets);
    map->validate();
    map.reset();
  }
};

// Of 32 buckets 16 have not been opened: both come to that of a key which was put when there were 16.
struct both_open : rl::test_suite<both_open, 2>, world {
  void before() {
    put(0b10001);
    put(0b00001);
  }
  void thread(unsigned) { has(0b10001); }
  void after() { ends_with(2, 32); }
};

// One comes to a bucket, the other to one that begins in the middle of it.
struct below_another : rl::test_suite<below_another, 2>, world {
  void before() {
    put(0b10001);
    put(0b00001);
  }
  void thread(unsigned self) {
    put(self == 0 ? 0b11000 : 0b11001);
    has(0b10001);
  }
  void after() { ends_with(4, 64); }
};

// Both put a key that is one too many, and then look for one that was there.
struct both_grow : rl::test_suite<both_grow, 2>, world {
  void before() { put(0b10001); }
  void thread(unsigned self) {
    put(self == 0 ? 0b00001 : 0b00010);
    has(0b10001);
  }
  void after() { ends_with(3, 32); }
};

// One puts it, and the other looks.
struct one_grows : rl::test_suite<one_grows, 2>, world {
  void before() { put(0b10001); }
  void thread(unsigned self) {
    if (self == 0) put(0b00001);
    else has(0b10001);
  }
  void after() { ends_with(2, 32); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &=
      passes<both_open>({.title = "split-ordered: both open", .how = search::bounded, .floor = 50, .switches = 2});
  ok &=
      passes<one_grows>({.title = "split-ordered: one grows", .how = search::bounded, .floor = 50, .switches = 2});
  ok &= passes<below_another>({.title = "split-ordered: below another", .executions = 10'000});
  ok &= passes<both_grow>({.title = "split-ordered: both grow", .executions = 20'000});
  return ok ? 0 : 1;
}
