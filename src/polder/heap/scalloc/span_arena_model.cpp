// span_arena under the model checker: a span has one taker, and whatever one finds of spans that are there may be
// touched, though several open the same ones at once, some of them only in part.
#include <polder/heap/scalloc/span_arena.cpp>

#include <new>

#include "explore.hpp"

namespace {

using polder::address;
using polder::atomic;
using polder::KiB;
using polder::order;
using polder::plain;
using polder::heap::scalloc::span;
using polder::heap::scalloc::span_arena;
using polder::heap::scalloc::span_number;

// The reservation: headers are there, and until they may be touched they say so.
struct reservation {
  static constexpr std::size_t length = 64 * KiB;  // of a virtual span
  static constexpr span_number spans = 4;
  static constexpr std::uint16_t untouchable = 0xffff;
  static inline reservation* current;
  alignas(length) static inline std::byte room[(spans + 1) * length];

  atomic<int> touchable[spans];  // the whole of it
  int refused_whole = -1;        // a thread that cannot have it: the kernel refuses what is longer than a header

  static span& at(span_number n) { return *reinterpret_cast<span*>(room + (n - 1) * length); }
  reservation() {
    current = this;
    for (span_number n = 1; n <= spans; ++n) (new (&at(n)) span())->cls.store(untouchable, order::relaxed);
  }
  ~reservation() {
    for (span_number n = 1; n <= spans; ++n) at(n).~span();
  }
  bool commit(const std::byte* p, std::size_t bytes) {
    if (refused_whole == int(rl::ctx().current_thread()) && bytes > length / 2) return false;
    for (span_number n = 1; n <= spans; ++n) {
      std::uint16_t was = untouchable;
      if (address(&at(n)) - address(p) < bytes) at(n).cls.cas(was, 0, order::relaxed, order::relaxed);
      if (address(&at(n)) + length - 1 - address(p) < bytes) touchable[n - 1].store(1, order::relaxed);
    }
    return true;
  }
};

struct world : reservation {
  span_arena arena;
  plain<int> takers[spans];

  void open() {
    POLDER_MODEL_CHECK(arena.reserve({.bytes = spans * length}));
    POLDER_MODEL_CHECK(arena.virtual_span() == length);
  }
  void take() {
    span* const s = arena.take(length);
    POLDER_MODEL_CHECK(s != nullptr && s->cls.load(order::relaxed) != untouchable);
    takers[s->number - 1].set(takers[s->number - 1].get() + 1);
    if (!arena.make_readable(*s, length)) return;
    POLDER_MODEL_CHECK(touchable[s->number - 1].load(order::relaxed) == 1);
  }
  void look() const {
    for (span_number n = 1; n <= spans; ++n) {
      const span* const s = arena.find(&at(n));
      POLDER_MODEL_CHECK(s == nullptr || s->cls.load(order::relaxed) != untouchable);
    }
  }
  void count() const {
    for (span_number n = arena.taken(); n != 0; --n)
      POLDER_MODEL_CHECK(arena.at(n).cls.load(order::relaxed) != untouchable);
  }
  void all_taken(unsigned times) {
    POLDER_MODEL_CHECK(arena.taken() == times);
    for (unsigned n = 0; n != spans; ++n) POLDER_MODEL_CHECK(takers[n].get() == (n < times ? 1 : 0));
  }
};

struct takers_and_finder : rl::test_suite<takers_and_finder, 3>, world {
  void before() { open(); }
  void thread(unsigned self) {
    if (self != 2) {
      take();
      if (self == 0) take();
    } else {
      count();
      look();
    }
  }
  void after() { all_taken(3); }
};

// To one the kernel gives a header at a time.
struct whole_or_in_part : rl::test_suite<whole_or_in_part, 2>, world {
  void before() {
    open();
    refused_whole = 0;
  }
  void thread(unsigned) {
    take();
    take();
  }
  void after() { all_taken(4); }
};

}  // namespace

namespace polder::os {

std::size_t page_size() noexcept { return 4096; }
std::size_t address_space_limit() noexcept { return SIZE_MAX; }
std::size_t data_limit() noexcept { return SIZE_MAX; }
void* reserve(std::size_t, use_of_reserved) noexcept { return reservation::room; }
bool commit(void* p, std::size_t bytes) noexcept {
  return reservation::current->commit(static_cast<std::byte*>(p), bytes);
}
bool unmap(void*, std::size_t) noexcept { return true; }
discarded discard_now(void*, std::size_t) noexcept { return discarded::zeroed; }
bool advise_huge_pages(void*, std::size_t, bool) noexcept { return true; }
bool keep_in_core_dumps(void*, std::size_t, bool) noexcept { return true; }

}  // namespace polder::os

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<takers_and_finder>({.title = "span_arena: two takers, one that finds", .executions = 20'000});
  ok &= passes<whole_or_in_part>(
      {.title = "span_arena: opened whole or in part", .how = search::bounded, .floor = 300, .switches = 1});
  ok &= passes<whole_or_in_part>({.title = "span_arena: opened whole or in part", .executions = 20'000});
  return ok ? 0 : 1;
}
