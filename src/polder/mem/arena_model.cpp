// arena under the model checker: a chunk's tables are there before anybody touches them; a grain has one holder, which comes
// after the last one whatever was closed and opened in between; and no chunk is closed of which somebody has a grain.
#include <polder/mem/arena.cpp>

#include <new>

#include "kernel.hpp"

#include <polder/sync/noted.hpp>

namespace {

using polder::atomic;
using polder::order;
using polder::plain;
using polder::run_bitmap;
using polder::mem::arena;
using polder::mem::chunk;
using polder::mem::chunk_number;
using polder::mem::grain_size;
using polder::mem::radix_map;
using polder::mem::zeroed;

constexpr chunk_number main_chunks = 2, chunks = main_chunks + 2;
constexpr unsigned main_grains = polder::mem::grains_per_chunk + 2, most_grains = 4;
constexpr std::size_t page = 64;  // so small that no two chunks' records share one

struct world {
  static inline world* current;
  // The reservation: tables, and addresses of grains that nobody touches.
  alignas(4096) static inline std::byte tables[std::size_t{1} << 20];

  polder::model::kernel kernel;
  std::byte* const root = reinterpret_cast<std::byte*>(zeroed::make<atomic<void*>>(1));
  polder::mem::budget all;
  arena it{{.start = tables,
            .bytes = sizeof tables,
            .front = tables + chunks * page,
            .front_bytes = page,
            .arena_bytes = main_grains * grain_size,
            .chunks = chunks,
            .page = page},
           root,
           all};
  atomic<int> committed[chunks];  // its record
  plain<int> contents[chunks][most_grains];

  world() {
    current = this;
    for (chunk_number c = 0; c != chunks; ++c) new (&it.chunk(c)) chunk();
    new (&it.summary(0)) atomic<std::uint64_t>();
    kernel.committed = [](void* p, std::size_t bytes) { current->note_committed(p, bytes); };
    kernel.longest = most_grains + 1;  // and one to align them
  }
  void note_committed(void* p, std::size_t bytes) {
    for (chunk_number c = 0; c != chunks; ++c)
      if (polder::address(&it.chunk(c)) - polder::address(p) < bytes) committed[c].store(1, order::relaxed);
  }

  void open_main() {
    for (chunk_number c = 0; c != main_chunks; ++c) POLDER_MODEL_CHECK(it.open_more(1));
  }

  // What ready() promises of an extra chunk.
  bool ready(chunk_number c) {
    const bool is = it.ready(c);
    POLDER_MODEL_CHECK(!is || c < main_chunks || it.chunk(c).grains.load(order::relaxed) != 0);
    return is;
  }
  bool try_take(chunk_number c) {
    POLDER_MODEL_CHECK(committed[c].load(order::relaxed) == 1);
    if (!ready(c)) return false;
    chunk& k = it.chunk(c);
    const unsigned at = k.taken.try_take(1);
    if (at == run_bitmap::none) return false;
    const polder::mem::grain g = c * polder::mem::grains_per_chunk + at;
    POLDER_MODEL_CHECK(g != 0);
    std::byte* const p = it.address_of(g);
    POLDER_MODEL_CHECK(c < main_chunks || it.find(polder::address(p)) == g);
    plain<int>& mine = contents[c][at];
    mine.set(mine.get() + 1);
    POLDER_MODEL_CHECK(k.taken.give(at, 1));
    return true;
  }
  bool take_anywhere() {
    const chunk_number open = it.main_open();
    for (chunk_number c = 0; c < open; ++c)
      if (try_take(c)) return true;
    const chunk_number extra = it.main_chunks() + it.extra_open();
    for (chunk_number c = it.main_chunks(); c < extra; ++c)
      if (try_take(c)) return true;
    return false;
  }
  void look_at_the_newest() {
    if (const chunk_number open = it.main_open()) try_take(open - 1);
  }
  void close() {
    const chunk_number extra = it.main_chunks() + it.extra_open();
    for (chunk_number c = it.main_chunks(); c < extra; ++c) {
      if (ready(c) && it.try_take_extra(c) != 0) POLDER_MODEL_CHECK(it.close_extra(c));
    }
  }
  // A chunk of one grain; those that are opened later have more.
  void open_a_small_one() {
    open_main();
    kernel.longest = 2;
    POLDER_MODEL_CHECK(it.open_more(1));
    kernel.longest = most_grains + 1;
  }
  // Everything that is still open can be closed, and then the kernel has all of it back.
  void all_back() {
    close();
    POLDER_MODEL_CHECK(kernel.in_use() == 0);
    for (chunk_number c = 0; c != chunks; ++c) it.chunk(c).~chunk();
    it.summary(0).~atomic();
    zeroed::all_end();
  }
};

// The main arena, opened by two at once, who commit its tables together; a third only looks.
struct openers : rl::test_suite<openers, 3>, world {
  void thread(unsigned self) {
    if (self != 2) POLDER_MODEL_CHECK(it.open_more(1));
    if (self == 1) POLDER_MODEL_CHECK(it.open_more(1));
    look_at_the_newest();
    take_anywhere();
  }
  void after() { all_back(); }
};

// Chunks beyond it come and go.
struct beyond : rl::test_suite<beyond, 3>, world {
  void before() { open_main(); }
  void thread(unsigned self) {
    static_cast<void>(it.open_more(1));
    if (self == 0) take_anywhere();
    close();
    if (self == 1) static_cast<void>(it.open_more(2));
    for (chunk_number c = main_chunks; c < main_chunks + it.extra_open(); ++c) try_take(c);
    if (self == 2) close();
  }
  void after() { all_back(); }
};

// A chunk of one grain is closed, and its number opened again with more, while another is about to take what it has.
struct reopened : rl::test_suite<reopened, 2>, world {
  void before() { open_a_small_one(); }
  void thread(unsigned self) {
    close();
    if (self == 0) return;
    static_cast<void>(it.open_more(1));
    chunk& k = it.chunk(main_chunks);
    constexpr unsigned last = most_grains - 1;
    if (!ready(main_chunks) || !k.taken.try_take_at(last, 1)) return;
    const std::uintptr_t mine = polder::address(it.address_of(main_chunks * polder::mem::grains_per_chunk + last));
    static_cast<void>(it.main_open());  // others may run here
    POLDER_MODEL_CHECK((kernel.in_use() >> (mine >> polder::mem::grain_shift) & 1) != 0);
    POLDER_MODEL_CHECK(k.taken.give(last, 1));
  }
  void after() { all_back(); }
};

// And grain 0 of it, which that one holds for a moment, is a dirty one: who searches meanwhile notes that there is none.
struct hidden : rl::test_suite<hidden, 2>, world {
  std::uint64_t dirty_and_free() {
    const chunk& k = it.chunk(main_chunks);
    return k.dirty.load(order::relaxed) & ~k.taken.taken();
  }
  void before() { open_a_small_one(); }
  void thread(unsigned self) {
    if (self == 0) return static_cast<void>(close_if_clean());
    if (it.try_take_extra(main_chunks) == 0 || !it.close_extra(main_chunks) || !it.open_more(most_grains)) return;
    chunk& k = it.chunk(main_chunks);
    atomic<std::uint64_t>& summary = it.summary(main_chunks);
    if (!k.taken.try_take_at(0, 1)) return;
    k.dirty.fetch_or(1, order::relaxed);
    POLDER_MODEL_CHECK(k.taken.give(0, 1));
    polder::note(summary, bit);
    if (dirty_and_free() == 0) polder::forget(summary, bit, [&] { return dirty_and_free() != 0; });
  }
  void close_if_clean() {
    const unsigned n = it.try_take_extra(main_chunks);
    if (n == 0) return;
    chunk& k = it.chunk(main_chunks);
    k.dirty.store(0, order::relaxed);
    POLDER_MODEL_CHECK(it.close_extra(main_chunks));
  }
  void after() {
    const std::uint64_t noted = it.summary(main_chunks).load(order::relaxed) & bit;
    POLDER_MODEL_CHECK(!it.ready(main_chunks) || dirty_and_free() == 0 || noted != 0);
    it.chunk(main_chunks).dirty.store(0, order::relaxed);
    all_back();
  }
  static constexpr std::uint64_t bit = arena::summary_bit(main_chunks);
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<openers>({.title = "arena: two openers", .how = search::bounded, .floor = 500, .switches = 1});
  ok &= passes<openers>({.title = "arena: two openers", .executions = 10'000});
  ok &= passes<reopened>({.title = "arena: opened again", .how = search::bounded, .floor = 1'000, .switches = 2});
  ok &= passes<hidden>(
      {.title = "arena: opened again, and dirty", .how = search::bounded, .floor = 1'000, .switches = 2});
  ok &= passes<beyond>({.title = "arena: chunks beyond it", .executions = 20'000});
  return ok ? 0 : 1;
}
