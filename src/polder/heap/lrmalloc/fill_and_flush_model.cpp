// LRMalloc's fills and flushes under the model checker: every block has one holder, every superblock is released once,
// after the last write to it, and every descriptor comes back.
#include <polder/heap/lrmalloc/partial_list.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::index_stack;
using polder::order;
using polder::plain;
using polder::heap::lrmalloc::give_blocks;
using polder::heap::lrmalloc::take_partial;
using polder::mem::anchor_word;
using polder::mem::fill;

constexpr std::uint32_t blocks = 3;   // of a superblock
constexpr std::uint32_t several = 3;  // superblocks the system has; as many descriptors

struct descriptor {
  polder::mem::anchor anchor;
  plain<std::uint32_t> superblock;
  atomic<std::uint32_t> next;
};

struct block {
  std::uint32_t superblock, index;
};

// What one thread holds, all of it allocated.
struct cache {
  block held[blocks * several];
  unsigned n = 0;
};

struct heap {
  descriptor descriptors[several + 1];
  plain<std::uint32_t> link[several][blocks];
  plain<int> is_free[several][blocks];
  plain<std::uint32_t> described_by[several];  // the page map, read by who holds a block
  atomic<std::uint32_t> mapped[several];
  index_stack partial, retired;

  auto at() {
    return [this](std::uint32_t n) -> descriptor& { return descriptors[n]; };
  }
  auto links() {
    return [this](std::uint32_t n) -> atomic<std::uint32_t>& { return descriptors[n].next; };
  }
  void begin() {
    for (std::uint32_t n = 1; n <= several; ++n) retired.push(n, links());
  }

  void hold(cache& k, std::uint32_t s, std::uint32_t b, bool was_free) {
    POLDER_MODEL_CHECK(is_free[s][b].get() == int(was_free));
    is_free[s][b].set(0);
    k.held[k.n++] = {s, b};
  }
  // All blocks of a partial superblock, or of a new one; none when the system has no more.
  void fill_cache(cache& k) {
    const auto [n, was] = take_partial(partial, retired, blocks, at());
    if (n != 0) {
      const std::uint32_t s = descriptors[n].superblock.get();
      std::uint32_t b = was.avail();
      for (std::uint32_t i = 0; i != was.count(); ++i) {
        const std::uint32_t next = link[s][b].get();
        hold(k, s, b, true);
        b = next;
      }
      return;
    }
    const std::uint32_t fresh = retired.pop(links());
    if (fresh == 0) return;
    for (std::uint32_t s = 0; s != several; ++s) {
      std::uint32_t no = 0;
      if (!mapped[s].cas(no, 1, order::acquire, order::relaxed)) continue;
      descriptors[fresh].superblock.set(s);
      descriptors[fresh].anchor.open(blocks);
      described_by[s].set(fresh);
      for (std::uint32_t b = 0; b != blocks; ++b) hold(k, s, b, false);
      return;
    }
    retired.push(fresh, links());
  }
  // Gives back what lies last in the cache, `n` blocks of one superblock.
  void flush(cache& k, unsigned n) {
    const block first = k.held[k.n - 1];
    const std::uint32_t s = first.superblock;
    std::uint32_t last = first.index;
    is_free[s][last].set(1);
    for (unsigned i = 1; i != n; ++i) {
      const block next = k.held[k.n - 1 - i];
      POLDER_MODEL_CHECK(next.superblock == s);
      link[s][last].set(next.index);
      last = next.index;
      is_free[s][last].set(1);
    }
    k.n -= n;
    const std::uint32_t d = described_by[s].get();
    give_blocks(
        partial, retired, d, first.index, n, blocks, at(), [&](std::uint32_t next) { link[s][last].set(next); },
        [&] {
          for (std::uint32_t b = 0; b != blocks; ++b) {  // what was there is gone
            POLDER_MODEL_CHECK(is_free[s][b].get() == 1);
            is_free[s][b].set(0);
            link[s][b].set(77);
          }
          described_by[s].set(77);
          POLDER_MODEL_CHECK(mapped[s].exchange(0, order::release) == 1);
        });
  }
  void flush_singly(cache& k) {
    while (k.n != 0) flush(k, 1);
  }

  // Nobody holds anything: nothing is mapped, and every descriptor can be had again.
  void everything_back() {
    for (auto& m : mapped) POLDER_MODEL_CHECK(m.load(order::relaxed) == 0);
    cache k;
    std::uint32_t n = 0;
    const auto had = take_partial(partial, retired, blocks, at());
    POLDER_MODEL_CHECK(had.number == 0);
    bool seen[several + 1] = {};
    while (const std::uint32_t d = retired.pop(links())) {
      POLDER_MODEL_CHECK(!seen[d] && descriptors[d].anchor.seen().state() == fill::empty);
      seen[d] = true;
      ++n;
    }
    POLDER_MODEL_CHECK(n == several);
  }
};

// Each fills, and flushes block by block; one finds what the other gave.
struct two_caches : rl::test_suite<two_caches, 2>, heap {
  void before() { begin(); }
  void thread(unsigned) {
    cache k;
    fill_cache(k);
    flush_singly(k);
    fill_cache(k);
    flush_singly(k);
  }
  void after() { everything_back(); }
};

// The whole of a superblock at once, against a fill.
struct whole_superblocks : rl::test_suite<whole_superblocks, 2>, heap {
  void before() { begin(); }
  void thread(unsigned self) {
    cache k;
    fill_cache(k);
    if (self == 0 && k.n == blocks) flush(k, blocks);
    flush_singly(k);
  }
  void after() { everything_back(); }
};

// Two free blocks that a third thread had, which goes on allocating.
struct remote_frees : rl::test_suite<remote_frees, 3>, heap {
  cache had[2];
  void before() {
    begin();
    cache k;
    fill_cache(k);
    for (unsigned b = 0; b != blocks; ++b) had[b % 2].held[had[b % 2].n++] = k.held[b];
  }
  void thread(unsigned self) {
    if (self < 2) return flush_singly(had[self]);
    cache k;
    fill_cache(k);
    flush_singly(k);
  }
  void after() { everything_back(); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<two_caches>({.title = "lrmalloc: two caches", .how = search::bounded, .floor = 500, .switches = 2});
  ok &= passes<two_caches>({.title = "lrmalloc: two caches", .executions = 30'000});
  ok &= passes<whole_superblocks>(
      {.title = "lrmalloc: whole superblocks", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<remote_frees>(
      {.title = "lrmalloc: remote frees", .how = search::bounded, .floor = 500, .switches = 3});
  ok &= passes<remote_frees>({.title = "lrmalloc: remote frees", .executions = 30'000});
  return ok ? 0 : 1;
}
