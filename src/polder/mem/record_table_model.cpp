// record_table under the model checker: no number is handed out twice, and who reads the count finds each record.
#include <polder/mem/record_table.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::plain;
using polder::mem::zeroed;

struct record {
  atomic<int> holders;
};
using table = polder::mem::record_table<record, 2, 3>;

template <unsigned Threads>
struct adding : rl::test_suite<adding<Threads>, int(Threads)> {
  std::byte* const directory = reinterpret_cast<std::byte*>(zeroed::make<atomic<record*>>(3));
  table records{directory};

  void add() {
    const std::uint32_t n = records.add();
    POLDER_MODEL_CHECK(n != 0);
    POLDER_MODEL_CHECK(records.at(n).holders.fetch_add(1, order::relaxed) == 0);
  }
  void walk() {
    const std::uint32_t made = records.made();
    for (std::uint32_t n = 1; n <= made; ++n) POLDER_MODEL_CHECK(records.at(n).holders.load(order::relaxed) <= 1);
  }
  void thread(unsigned self) {
    if (self != 2) add();
    walk();
  }
  void after() {
    POLDER_MODEL_CHECK(records.made() == (Threads < 2 ? Threads : 2));
    zeroed::all_end();
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<adding<2>>(
      {.title = "record_table: two numbers", .how = search::bounded, .floor = 500, .switches = 4});
  ok &= passes<adding<3>>({.title = "record_table: two numbers, a reader", .executions = 20'000});
  return ok ? 0 : 1;
}
