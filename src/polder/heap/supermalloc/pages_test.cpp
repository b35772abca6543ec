#include <polder/heap/supermalloc/pages.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include <polder/os/pages.hpp>

namespace polder::heap::supermalloc {
namespace {

using classes = size_classes;
constexpr mem::secret key = 0x5151;

// The pages of one class, without caches above them.
struct bench : testing::Test {
  std::byte* directory = static_cast<std::byte*>(os::map(align_up(chunk_source::directory_bytes, os::page_size())));
  chunk_source source{directory, thp_policy::off, 1};
  page_keeper keeper{source, key, os::page_size(), keep, false};
  pages p{};
  unsigned c = classes::of(64);
  static constexpr std::size_t keep = 64 * KiB;

  mem::block* take() { return keeper.take_one(p, c, 0); }
  void give(mem::block* b) {
    b->set_link(nullptr, key);
    keeper.give(p, c, *source.find(address(b)), b);
  }
  folio& folio_of(const void* b) {
    chunk& k = *source.find(address(b));
    return k.folios[place_of(k, std::uint32_t(address(b) - address(k.base)), c).folio];
  }
  void good() { keeper.validate(p, c, 0); }
};

TEST_F(bench, blocks_are_bumped_one_behind_the_other_and_found) {
  std::byte* const first = reinterpret_cast<std::byte*>(take());
  for (unsigned i = 1; i < 3 * classes::blocks_per_folio(c); ++i) {
    auto* const b = reinterpret_cast<std::byte*>(take());
    ASSERT_EQ(first + i * 64, b);
    chunk* const k = source.find(address(b));
    ASSERT_NE(nullptr, k);
    ASSERT_EQ(c, k->class_at(std::uint32_t(b - k->base)));
  }
  EXPECT_EQ(nullptr, source.find(address(&first)));
  EXPECT_EQ(nullptr, source.find(~std::uintptr_t{0}));
  EXPECT_EQ(3 * classes::folio_bytes(c), p.held);
  good();
}

TEST_F(bench, the_fullest_folio_serves_first) {
  std::vector<mem::block*> all;
  const unsigned n = classes::blocks_per_folio(c);
  for (unsigned i = 0; i < 3 * n; ++i) all.push_back(take());
  for (unsigned i = 0; i < 10; ++i) give(all[i]);         // ten free in the first
  for (unsigned i = 0; i < 3; ++i) give(all[n + i]);      // three in the second
  for (unsigned i = 0; i < n; ++i) give(all[2 * n + i]);  // all of the third
  good();
  EXPECT_EQ(folio_state::empty, folio_of(all[2 * n]).state);
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(&folio_of(all[n]), &folio_of(take()));
  for (unsigned i = 0; i < 10; ++i) EXPECT_EQ(&folio_of(all[0]), &folio_of(take()));
  EXPECT_EQ(&folio_of(all[2 * n]), &folio_of(take())) << "then an empty one";
  good();
}

TEST_F(bench, many_at_once_are_a_list) {
  block_list l{};
  keeper.take(p, c, 0, 5000, l);
  EXPECT_EQ(5000u, l.count);
  EXPECT_TRUE(l.whole(key));
  good();
  std::set<mem::block*> seen;
  while (!l.empty()) ASSERT_TRUE(seen.insert(l.pop(key)).second);
}

TEST_F(bench, what_is_empty_beyond_a_bound_goes_back_and_is_unknown_then) {
  std::vector<mem::block*> all;
  for (unsigned i = 0; i < 100 * classes::blocks_per_folio(c); ++i) all.push_back(take());
  for (mem::block* b : all) give(b);
  EXPECT_LE(p.empties * classes::folio_bytes(c), keep);
  EXPECT_GE(p.discards, 80u);
  EXPECT_EQ(p.empties * classes::folio_bytes(c), p.held);
  EXPECT_EQ(0u, p.busy);
  folio& clean = folio_of(all.back());
  EXPECT_EQ(folio_state::clean, clean.state);
  EXPECT_EQ(0u, clean.bumped.load(order::relaxed)) << "a free of what lay there is of nothing";
  good();
  for (auto& b : all) b = take();
  good();
  EXPECT_EQ(all.size(), std::set<mem::block*>(all.begin(), all.end()).size());
}

TEST_F(bench, the_first_half_megabyte_comes_in_slices_then_chunks) {
  for (unsigned i = 0; i < 8 * slice_bytes / 64; ++i) ASSERT_TRUE(source.find(address(take()))->shared());
  EXPECT_EQ(8u, p.slices);
  EXPECT_EQ(chunk_bytes, source.mapped_bytes());
  EXPECT_FALSE(source.find(address(take()))->shared());
  EXPECT_EQ(2 * chunk_bytes, source.mapped_bytes());
  good();
}

TEST_F(bench, classes_share_a_chunk_by_slices) {
  pages other{};
  const unsigned larger = classes::of(3000);
  mem::block* const a = take();
  mem::block* const b = keeper.take_one(other, larger, 0);
  EXPECT_EQ(source.find(address(a)), source.find(address(b)));
  chunk& k = *source.find(address(a));
  EXPECT_EQ(c, k.class_at(std::uint32_t(address(a) - address(k.base))));
  EXPECT_EQ(larger, k.class_at(std::uint32_t(address(b) - address(k.base))));
  good();
  keeper.validate(other, larger, 0);
}

TEST_F(bench, a_trim_gives_all_back_and_other_classes_may_have_it) {
  std::vector<mem::block*> all;
  for (unsigned i = 0; i < 5 * MiB / 64; ++i) all.push_back(take());
  mem::block* const kept = all[all.size() / 2];
  for (mem::block* b : all)
    if (b != kept) give(b);
  EXPECT_GT(keeper.trim(p, c), 0u);
  EXPECT_EQ(classes::folio_bytes(c), p.held);
  EXPECT_EQ(chunk_bytes, source.mapped_bytes()) << "the chunk of the one that is kept";
  good();
  give(kept);
  keeper.trim(p, c);
  EXPECT_EQ(0u, source.mapped_bytes());
  EXPECT_EQ(0u, p.held);
  EXPECT_EQ(nullptr, source.find(address(kept)));
  good();
  EXPECT_NE(nullptr, take());
  good();
}

// Regions that stay lie between those that go: none is looked at again for each of these.
TEST_F(bench, a_trim_looks_at_each_folio_once) {
  std::vector<mem::block*> all;
  for (unsigned i = 0; i < 64 * MiB / 64; ++i) all.push_back(take());
  std::set<chunk*> kept;
  for (mem::block* b : all) {
    chunk* const k = source.find(address(b));
    if (k->number % 2 != 0 || !kept.insert(k).second) give(b);
  }
  const std::size_t folios = 64 * MiB / classes::folio_bytes(c);
  EXPECT_GT(kept.size(), 10u);
  const std::size_t before = source.mapped_bytes();
  keeper.trim(p, c);
  EXPECT_LT(source.mapped_bytes(), before - 20 * MiB);
  EXPECT_LE(p.looks, folios);
  good();
}

TEST_F(bench, as_a_set_says) {
  for (const std::size_t size : {16ul, 704ul, 7232ul, 40960ul, 200000ul}) {
    p = {};
    c = classes::of(size);
    std::mt19937 random(7);
    std::vector<mem::block*> live;
    std::set<mem::block*> known;
    for (int phase = 0; phase < 6; ++phase) {
      for (int step = 0; step < 1500; ++step) {
        if (random() % 100 < (phase % 2 == 0 ? 75u : 25u) || live.empty()) {
          mem::block* const b = take();
          ASSERT_TRUE(known.insert(b).second);
          live.push_back(b);
        } else {
          std::swap(live[random() % live.size()], live.back());
          known.erase(live.back());
          give(live.back());
          live.pop_back();
        }
      }
      if (phase == 3) keeper.trim(p, c);
      good();
      ASSERT_EQ(live.size(), p.taken - p.given);
    }
    for (mem::block* b : live) give(b);
    keeper.trim(p, c);
    good();
    EXPECT_EQ(0u, source.mapped_bytes());
  }
}

// In the child of a fork that came from a handler, a class's records may be torn: they are left alone.
TEST_F(bench, forsaken_blocks_come_back_all_the_same) {
  mem::block* const before = take();
  keeper.forsake(p, c, 0);
  mem::block* const after = take();
  EXPECT_NE(before, after);
  give(before);
  EXPECT_EQ(1u, p.adrift.count);
  EXPECT_EQ(before, take());
  EXPECT_EQ(0u, p.adrift.count);
  give(after);
  good();
}

TEST_F(bench, a_free_block_that_was_written_to_is_told) {
  mem::block* const a = take();
  give(a);
  a->link = a;
  EXPECT_DEATH(take(), "polder: corrupted free block");
}

TEST(chunk_source, chunks_lie_at_multiples_of_themselves) {
  auto* const directory =
      static_cast<std::byte*>(os::map(align_up(chunk_source::directory_bytes, os::page_size())));
  chunk_source source(directory, thp_policy::madvise, 1);
  void* const holes[] = {os::map(os::page_size()), os::map(3 * os::page_size())};
  EXPECT_NE(holes[0], holes[1]);
  std::vector<chunk*> all;
  for (int i = 0; i < 8; ++i) {
    const region r = source.take_chunk(5, 0);
    ASSERT_NE(nullptr, r.of);
    EXPECT_TRUE(is_aligned(address(r.of->base), chunk_bytes));
    EXPECT_EQ(r.of, source.find(address(r.of->base) + chunk_bytes - 1));
    all.push_back(r.of);
  }
  const std::uint32_t number = all[3]->number;
  const auto at = address(all[3]->base);
  EXPECT_TRUE(source.give_chunk(*all[3]));
  EXPECT_EQ(nullptr, source.find(at));
  EXPECT_EQ(number, source.take_chunk(6, 0).of->number) << "numbers are used again";
}

// In a child whose parent's thread held the source's lock the lists of shared chunks are forsaken, the chunks are not.
TEST(chunk_source, a_shared_chunk_that_is_in_no_list_any_more_goes_back) {
  auto* const directory =
      static_cast<std::byte*>(os::map(align_up(chunk_source::directory_bytes, os::page_size())));
  chunk_source source(directory, thp_policy::off, 1);
  const region a = source.take_slice(5, 0), b = source.take_slice(6, 0);
  ASSERT_EQ(a.of, b.of);
  source.forsake();
  const region later = source.take_slice(7, 0);
  EXPECT_NE(a.of, later.of);
  const auto at = address(a.of->base);
  EXPECT_TRUE(source.give_slice(*a.of, a.first / folios_per_slice));
  EXPECT_NE(nullptr, source.find(at));
  EXPECT_TRUE(source.give_slice(*a.of, b.first / folios_per_slice));
  EXPECT_EQ(nullptr, source.find(at));
  EXPECT_EQ(later.of, source.take_slice(8, 0).of) << "the list that was begun since is whole";
}

}  // namespace
}  // namespace polder::heap::supermalloc
