// hyperblocks under the model checker, over a kernel that gives the same addresses again at once: a place has one
// holder, which comes after the last one whatever was unmapped in between; no search passes over what was given back
// before it began; and at the end every hyperblock is with the kernel.
#include <polder/heap/michael/hyperblocks.cpp>

#include "kernel.hpp"

namespace {

using polder::address;
using polder::atomic;
using polder::plain;
using polder::heap::michael::hyperblocks;
using polder::heap::michael::place_bytes;
using polder::mem::grain_size;
using polder::mem::radix_map;
using polder::mem::zeroed;

constexpr unsigned places = grain_size / place_bytes;  // of a hyperblock, which is a granule long

template <unsigned Spare>
struct world {
  polder::model::kernel kernel;
  std::byte* const root = reinterpret_cast<std::byte*>(zeroed::make<atomic<void*>>(1));
  std::byte* const directory = reinterpret_cast<std::byte*>(zeroed::make<atomic<void*>>(1));
  radix_map map{root};
  hyperblocks hyper{map, directory, grain_size, Spare};
  plain<int> contents[(polder::model::kernel::granules + 1) * places];

  // Of the place, or of the first of several.
  plain<int>& at(const std::byte* p) { return contents[address(p) / place_bytes]; }
  void write(const std::byte* p, unsigned length) {
    for (unsigned i = 0; i != length; ++i) at(p + i * place_bytes).set(at(p + i * place_bytes).get() + 1);
  }
  std::byte* take(unsigned length) {
    std::byte* const p = hyper.take(length, 1);
    POLDER_MODEL_CHECK(p != nullptr);
    write(p, length);
    bool within = false;
    POLDER_MODEL_CHECK(hyper.find(p, within) == 1 && within);
    return p;
  }
  void give(std::byte* p, unsigned length) {
    write(p, length);
    hyper.give(p, length);
  }
  // Nobody has a place any more.
  void all_back() {
    hyper.trim(4096);
    POLDER_MODEL_CHECK(kernel.in_use() == 0);
    zeroed::all_end();
  }
};

// Whole hyperblocks, which come and go, or are put aside.
template <unsigned Spare>
struct whole : rl::test_suite<whole<Spare>, 2>, world<Spare> {
  void thread(unsigned) {
    this->give(this->take(places), places);
    this->give(this->take(places), places);
  }
  void after() { this->all_back(); }
};

// Places of one hyperblock, of which each may give the last; a trim in between.
template <bool Trims>
struct parts : rl::test_suite<parts<Trims>, 2>, world<0> {
  void thread(unsigned self) {
    if (Trims && self == 1) hyper.trim(4096);
    std::byte* const p = take(1);
    std::byte* const q = take(1);
    give(p, 1);
    give(q, 1);
  }
  void after() { all_back(); }
};

// One gives a place of a hyperblock that was full, one searches for a place. What is open afterwards is found before
// another hyperblock is mapped.
struct search_meets_give : rl::test_suite<search_meets_give, 2>, world<0> {
  std::byte* held[2 * places];
  void before() {
    for (unsigned i = 0; i != places; ++i) held[i] = take(1);
  }
  void thread(unsigned self) {
    if (self == 0) give(held[0], 1);
    else held[places] = take(1);
  }
  void after() {
    const auto mapped = unsigned(std::popcount(kernel.in_use()));
    held[0] = held[places];
    for (unsigned n = places; n != mapped * places; ++n) held[n] = take(1);
    POLDER_MODEL_CHECK(unsigned(std::popcount(kernel.in_use())) == mapped);
    for (unsigned n = 0; n != mapped * places; ++n) give(held[n], 1);
    all_back();
  }
};

// Whoever counts hears of what nobody has written to that it is clean: of a hyperblock that is new, and of one that the
// system would not have back, but for its contents.
template <bool Returns>
struct counting : rl::test_suite<counting<Returns>, 2>, world<0> {
  static constexpr std::uint64_t clean = Returns ? 1 : std::uint64_t{1} << (places - 1);
  std::byte* held = nullptr;

  void before() {
    kernel.refuses_to_unmap = Returns;
    if (Returns) held = take(1);
  }
  bool is_there(bool before) {
    bool there = false;
    hyper.each([&](const hyperblocks::hyperblock& h) {
      there = true;
      if (!before) POLDER_MODEL_CHECK((h.clean.load(polder::order::relaxed) & clean) != 0);
    });
    return there;
  }
  void thread(unsigned self) {
    if (self == 1) static_cast<void>(is_there(is_there(Returns)));
    else if (Returns) give(held, 1);
    else held = take(1);
  }
  void after() {
    kernel.refuses_to_unmap = false;
    if (!Returns) give(held, 1);
    all_back();
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<whole<0>>({.title = "hyperblocks: whole ones", .executions = 3'000});
  ok &= passes<whole<1>>({.title = "hyperblocks: whole ones, one put aside", .executions = 3'000});
  ok &= passes<parts<false>>({.title = "hyperblocks: places", .executions = 3'000});
  ok &= passes<parts<true>>({.title = "hyperblocks: places, and a trim", .executions = 3'000});
  ok &= passes<search_meets_give>(
      {.title = "hyperblocks: a search meets a give", .how = search::bounded, .floor = 300, .switches = 2});
  ok &= passes<counting<false>>(
      {.title = "hyperblocks: a new one is counted", .how = search::bounded, .floor = 300, .switches = 1});
  ok &= passes<counting<true>>(
      {.title = "hyperblocks: one that stays is counted", .how = search::bounded, .floor = 50, .switches = 1});
  return ok ? 0 : 1;
}
