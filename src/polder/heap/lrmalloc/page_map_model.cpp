// Both page maps under the model checker: a word that was written is found, nothing is lost when two make the nodes on
// the way at once, and whoever asks for whatever address reads only what may be read.
#include <polder/heap/lrmalloc/page_array.hpp>
#include <polder/heap/lrmalloc/page_tree.hpp>

#include <new>

#include "explore.hpp"

namespace {

using polder::at_address;
using polder::atomic;
using polder::order;
using polder::heap::lrmalloc::page_array;
using polder::heap::lrmalloc::page_row;
using polder::heap::lrmalloc::page_shift;
using polder::heap::lrmalloc::page_tree;
using polder::heap::lrmalloc::page_word;
using polder::mem::zeroed;

page_word word(unsigned n) { return page_word(nullptr, n); }

struct in_tree : rl::test_suite<in_tree, 2> {
  static std::byte* at(unsigned n) { return at_address(std::uintptr_t{n} << page_shift); }

  page_tree map;

  void look(unsigned n) {
    if (const page_word w = map.find(at(n))) POLDER_MODEL_CHECK(w == word(n));
  }
  void thread(unsigned self) {
    if (self == 1) look(1);  // all nodes may be new to it
    const page_row row = map.row(at(self + 1));
    POLDER_MODEL_CHECK(row != nullptr);
    row[0].store(word(self + 1), order::relaxed);
    look(2 - self);
  }
  void after() {
    for (unsigned n : {1, 2}) POLDER_MODEL_CHECK(map.find(at(n)) == word(n));
    zeroed::all_end();
  }
};

// The reservation. Of each step of the window the first word is there, and until it may be touched it says so.
// Addresses of words are as far apart as the checker's words are; lengths are those of the words in the heap.
struct reservation {
  static constexpr std::size_t step = 64 * polder::KiB / sizeof(page_word);
  static constexpr unsigned steps = 3;  // 1 … 3
  static inline const page_word untouchable = word(polder::heap::lrmalloc::size_classes::count + 1);
  alignas(64) static inline std::byte room[(steps + 1) * step * sizeof(atomic<page_word>)];

  static atomic<page_word>& at(unsigned n) { return reinterpret_cast<atomic<page_word>*>(room)[n * step]; }
  reservation() {
    for (unsigned n = 1; n <= steps; ++n) new (&at(n)) atomic<page_word>(untouchable);
  }
  ~reservation() {
    for (unsigned n = 1; n <= steps; ++n) at(n).~atomic<page_word>();
  }
  // Twice is harmless.
  static void commit(const void* p, std::size_t bytes) {
    const auto from = std::size_t(static_cast<const std::byte*>(p) - room) / sizeof(atomic<page_word>);
    for (unsigned n = 1; n <= steps; ++n) {
      page_word was = untouchable;
      if (from <= n * step && n * step < from + bytes / sizeof(page_word))
        at(n).cas(was, page_word{}, order::relaxed, order::relaxed);
    }
  }
};

// One has superblocks at First and then at Second; the other asks, has one between or above them, and asks again.
template <unsigned First, unsigned Second>
struct in_array : rl::test_suite<in_array<First, Second>, 2> {
  static std::byte* at(unsigned n) { return at_address(n * reservation::step << page_shift); }

  reservation reserved;
  page_array map;

  void before() { POLDER_MODEL_CHECK(map.begin()); }
  void look() {
    for (unsigned n = 1; n <= reservation::steps; ++n) {
      const page_word w = map.find(at(n));
      POLDER_MODEL_CHECK(!w || w == word(n));
    }
  }
  void take(unsigned n) {
    const page_row row = map.row(at(n));
    POLDER_MODEL_CHECK(row != nullptr && row[0].load(order::relaxed) != reservation::untouchable);
    row[0].store(word(n), order::relaxed);
  }
  void thread(unsigned self) {
    if (self == 0) {
      take(First);
      take(Second);
    } else {
      look();
      take(2);
      look();
    }
  }
  void after() {
    for (unsigned n : {First, Second, 2u}) POLDER_MODEL_CHECK(map.find(at(n)) == word(n));
    zeroed::all_end();
  }
};

}  // namespace

namespace polder::os {

void* reserve(std::size_t, use_of_reserved) noexcept { return reservation::room; }
bool commit(void* p, std::size_t bytes) noexcept { return reservation::commit(p, bytes), true; }
bool unmap(void*, std::size_t) noexcept { return true; }
bool keep_in_core_dumps(void*, std::size_t, bool) noexcept { return true; }

}  // namespace polder::os

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<in_tree>({.title = "page_tree: two rows", .how = search::bounded, .floor = 5'000});
  ok &= passes<in_array<3, 1>>({.title = "page_array: from above", .how = search::bounded, .floor = 500});
  ok &= passes<in_array<1, 2>>({.title = "page_array: from below", .how = search::bounded, .floor = 500});
  return ok ? 0 : 1;
}
