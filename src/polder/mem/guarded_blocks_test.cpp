#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include <polder/base/config.hpp>
#include <polder/mem/guarded_blocks.hpp>
#include <polder/os/answered_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/os/memory_used_test.hpp>
#include <polder/os/pages.hpp>

namespace polder::mem {
namespace {

std::ptrdiff_t mappings() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
}

struct guarded : ::testing::Test {
  guarded() {
    r.seed(::testing::UnitTest::GetInstance()->random_seed());
    it.start(page, 0x1234'5678'9abc'def0);
  }
  char* take(std::size_t n) { return static_cast<char*>(it.take(n, r)); }
  // One at the end of its page, or at its beginning.
  char* take_at(bool end, std::size_t n) {
    for (unsigned i = 0; i < 64; ++i) {
      char* const p = take(n);
      if (is_aligned(address(p), page) != end) return p;
    }
    return nullptr;
  }

  const std::size_t page = os::page_size();
  random r;
  guarded_blocks it{};
};

TEST_F(guarded, is_there_zeroed_and_aligned) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{100}, page}) {
    char* const p = take(n);
    ASSERT_NE(nullptr, p);
    EXPECT_TRUE(is_aligned(address(p), min_alignment));
    EXPECT_TRUE(it.has(p));
    EXPECT_EQ(n, it.usable(p));
    EXPECT_EQ(std::ptrdiff_t(n), std::count(p, p + n, 0));
    std::fill(p, p + n, 'x');
    it.give(p);
  }
  EXPECT_EQ(nullptr, take(page + 1));
  EXPECT_EQ(0u, it.live_bytes());
}

TEST_F(guarded, are_so_many_and_not_one_more) {
  std::vector<char*> all;
  while (char* const p = take(64)) all.push_back(p);
  EXPECT_EQ(guarded_blocks::slots, all.size());
  EXPECT_EQ(guarded_blocks::slots * page, it.live_bytes());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all.end(), std::adjacent_find(all.begin(), all.end(), [&](char* a, char* b) { return a + page > b; }))
      << "no two on neighbouring pages";
  for (char* p : all) it.give(p);
  EXPECT_NE(nullptr, take(64));
}

TEST_F(guarded, a_freed_one_stays_out_of_use_for_long) {
  char* const p = take(64);
  it.give(p);
  for (unsigned i = 1; i < guarded_blocks::slots; ++i) {
    char* const q = take(64);
    EXPECT_NE(address(p) / page, address(q) / page);
    it.give(q);
  }
}

TEST_F(guarded, without_a_start_there_is_nothing) {
  guarded_blocks none{};
  EXPECT_EQ(nullptr, none.take(16, r));
  EXPECT_FALSE(none.has(nullptr));
  EXPECT_FALSE(none.has(&none));
}

// More than a page may not be made writable at once, in the end: then each is by itself, and none is left behind a mark.
TEST_F(guarded, can_be_used_where_the_whole_may_not_be_made_writable) {
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([&] {
              const rlim_t most = os::bytes_used(os::used::data) + guarded_blocks::slots / 2 * page;
              const rlimit some{most, most};
              if (::setrlimit(RLIMIT_DATA, &some) != 0) return 1;
              guarded_blocks few{};
              few.start(page, 0x1234'5678'9abc'def0);
              char* all[guarded_blocks::slots];
              std::size_t had = 0;
              while (had != guarded_blocks::slots && (all[had] = static_cast<char*>(few.take(64, r)))) ++had;
              if (had == 0 || had == guarded_blocks::slots) return 2;
              for (std::size_t i = 0; i != had; ++i) std::fill(all[i], all[i] + 64, 'x');
              for (std::size_t i = 0; i != had; ++i) few.give(all[i]);
              return few.take(64, r) != nullptr ? 0 : 3;
            }));
}

TEST_F(guarded, none_are_where_their_addresses_cannot_be_had) {
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([&] {
              const rlim_t most =
                  os::bytes_used(os::used::address_space) + guarded_blocks::slots * page;  // half of what they need
              const rlimit some{most, most};
              if (::setrlimit(RLIMIT_AS, &some) != 0) return 1;
              const std::size_t before = os::bytes_used(os::used::address_space);
              guarded_blocks none{};
              none.start(page, 0x1234'5678'9abc'def0);
              if (none.take(64, r) != nullptr || none.has(&none)) return 2;
              return os::bytes_used(os::used::address_space) == before ? 0 : 3;
            }));
}

// Where the kernel has marks, a live block costs no mapping more; else it cuts one into three.
TEST_F(guarded, by_marks_cost_no_mappings) {
  if (const char* why = os::lacks_advice()) GTEST_SKIP() << why;
  auto* const some = static_cast<std::byte*>(os::map(page));
  const bool has_marks = os::install_guard(some, page);
  os::unmap(some, page);
  if (!has_marks) GTEST_SKIP() << "this kernel has no marks";
  take(64);
  const std::ptrdiff_t before = mappings();
  for (int i = 0; i != 100; ++i) ASSERT_NE(nullptr, take(64));
  EXPECT_EQ(before, mappings());
}

// By a filter, or an emulator, that says yes to every advice.
TEST_F(guarded, marks_that_are_none_are_not_relied_on) {
  if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why << ", whose own calls the filter would see";
  EXPECT_EQ(os::fine, os::forked([&] {
              if (!os::answer(SYS_madvise, 0)) return 0;  // there are no filters here
              guarded_blocks by_access{};
              by_access.start(page, 0x1234'5678'9abc'def0);
              auto* const p = static_cast<std::byte*>(by_access.take(64, r));
              if (p == nullptr) return 1;
              auto* const own = at_address(align_down(address(p), page));
              if (os::reads_as_zero(own - page) || os::reads_as_zero(own + page)) return 2;
              by_access.give(p);
              return os::reads_as_zero(own) ? 3 : 0;
            }));
}

TEST_F(guarded, says_what_a_fault_was) {
  const auto said = [&](const void* p) {
    ::testing::internal::CaptureStderr();
    const bool ours = it.explain(p);
    const std::string text = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(ours, !text.empty());
    return text;
  };
  using ::testing::PrintToString;
  char* const p = take_at(true, 100);
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != text.npos; };
  EXPECT_TRUE(has(said(p + 112), "access out of bounds at")) << said(p + 112);
  EXPECT_TRUE(has(said(p + 112), ": 13 bytes beyond a block of 100 at")) << said(p + 112);
  char* const q = take_at(false, 100);
  EXPECT_TRUE(has(said(q - 1), ": 1 bytes before a block of 100 at")) << said(q - 1);
  it.give(p);
  EXPECT_TRUE(has(said(p + 7), "use after free at")) << said(p + 7);
  EXPECT_TRUE(has(said(p + 7), ": 7 bytes into a block of 100 at")) << said(p + 7);
  EXPECT_TRUE(has(said(p + 112), "use after free, and access out of bounds at")) << said(p + 112);
  EXPECT_TRUE(has(said(p + 40 * page), ": no block has been there")) << said(p + 40 * page);
  EXPECT_EQ("", said(&page));
}

using guarded_death = guarded;

TEST_F(guarded_death, an_overrun_is_a_fault) {
  char* const p = take_at(true, 96);
  EXPECT_DEATH(*const_cast<volatile char*>(p + 96) = 1, "");
  EXPECT_DEATH(static_cast<void>(*const_cast<volatile char*>(p + 96)), "");
}

TEST_F(guarded_death, an_underrun_is_a_fault) {
  char* const p = take_at(false, 96);
  EXPECT_DEATH(*const_cast<volatile char*>(p - 1) = 1, "");
}

TEST_F(guarded_death, a_use_after_the_free_is_a_fault) {
  char* const p = take(96);
  it.give(p);
  EXPECT_DEATH(*const_cast<volatile char*>(p) = 1, "");
  EXPECT_DEATH(static_cast<void>(*const_cast<volatile char*>(p + 50)), "");
}

TEST_F(guarded_death, the_free_sees_what_was_written_beside_it) {
  char* const p = take_at(true, 90);
  EXPECT_DEATH((p[90] = 0, it.give(p)), "polder: corrupted free block 0x|polder: corrupted");
  EXPECT_DEATH((p[-1] = 0, it.give(p)), "polder: corrupted");
  char* const q = take_at(false, 90);
  EXPECT_DEATH((q[page - 1] = 0, it.give(q)), "polder: corrupted");
}

TEST_F(guarded_death, a_second_free_is_noticed) {
  char* const p = take(90);
  it.give(p);
  EXPECT_DEATH(it.give(p), "polder: double free of 0x.*guarded");
  EXPECT_DEATH(it.give(take(90) + 16), "polder: invalid free of 0x.*guarded");
}

}  // namespace
}  // namespace polder::mem
