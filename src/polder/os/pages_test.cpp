#include <polder/os/pages.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include <polder/base/align.hpp>
#include <polder/base/bits.hpp>
#include <polder/os/answered_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/os/lost_move_test.hpp>

namespace polder::os {
namespace {

const std::size_t page = page_size();

// Asks the kernel, which answers instead of sending a signal.
class prober {
 public:
  prober() { EXPECT_EQ(0, ::pipe(ends_)); }
  ~prober() { ::close(ends_[0]), ::close(ends_[1]); }

  bool readable(const void* p) const {
    if (::write(ends_[1], p, 1) != 1) return false;
    char c;
    return ::read(ends_[0], &c, 1) == 1;
  }
  bool writable(void* p) const {
    if (!readable(p) || ::write(ends_[1], p, 1) != 1) return false;
    if (::read(ends_[0], p, 1) == 1) return true;
    char c;
    static_cast<void>(::read(ends_[0], &c, 1));
    return false;
  }

 private:
  int ends_[2];
};

bool mapped(const void* p) { return ::msync(const_cast<void*>(p), page, MS_ASYNC) == 0; }

bool resident(const void* p) {
  unsigned char in = 0;
  return ::mincore(const_cast<void*>(p), page, &in) == 0 && (in & 1) != 0;
}

bool all_zero(const std::byte* p, std::size_t n) {
  for (std::size_t i = 0; i != n; ++i)
    if (p[i] != std::byte{0}) return false;
  return true;
}

// Every call keeps errno, whatever comes of it.
class pages : public testing::Test {
 protected:
  void SetUp() override { errno = 77; }
  void TearDown() override { EXPECT_EQ(77, errno); }
  template <class F>
  auto quietly(F f) {  // what the test itself does to errno does not count
    const int kept = errno;
    auto result = f();
    errno = kept;
    return result;
  }
  bool readable(const void* p) {
    return quietly([&] { return prober().readable(p); });
  }
  bool writable(void* p) {
    return quietly([&] { return prober().writable(p); });
  }
  bool is_mapped(const void* p) {
    return quietly([&] { return mapped(p); });
  }
};

TEST_F(pages, page_size_is_the_systems) { EXPECT_EQ(std::size_t(::sysconf(_SC_PAGESIZE)), page_size()); }

TEST_F(pages, reserved_memory_cannot_be_touched_and_committed_memory_is_zero) {
  auto* const p = static_cast<std::byte*>(reserve(4 * page));
  ASSERT_NE(nullptr, p);
  EXPECT_TRUE(is_aligned(address(p), page));
  EXPECT_TRUE(is_mapped(p));
  EXPECT_FALSE(readable(p));
  ASSERT_TRUE(commit(p + page, 2 * page));
  EXPECT_FALSE(readable(p));
  EXPECT_TRUE(writable(p + page));
  EXPECT_TRUE(all_zero(p + page, 2 * page));
  EXPECT_FALSE(readable(p + 3 * page));
  EXPECT_TRUE(unmap(p, 4 * page));
}

TEST_F(pages, far_more_can_be_reserved_than_there_is) {
  void* const p = reserve(GiB * 64);
  ASSERT_NE(nullptr, p);
  EXPECT_TRUE(unmap(p, GiB * 64));
}

TEST_F(pages, a_reservation_at_a_multiple_lies_there_and_is_all_that_is_held) {
  for (const std::size_t alignment : {2 * page, 16 * page, std::size_t{64 * MiB}}) {
    bool cut = false;
    auto* const p = static_cast<std::byte*>(reserve_at_multiple(3 * page, alignment, cut));
    ASSERT_NE(nullptr, p);
    EXPECT_TRUE(cut);
    EXPECT_TRUE(is_aligned(address(p), alignment));
    ASSERT_TRUE(commit(p, 3 * page));
    std::memset(p, 1, 3 * page);
    ASSERT_TRUE(unmap(p, 3 * page));
    EXPECT_FALSE(is_mapped(p + 3 * page));  // what lay beside is back with the system
  }
  bool cut = false;
  EXPECT_EQ(nullptr, reserve_at_multiple(SIZE_MAX - page + 1, 2 * page, cut));
  EXPECT_TRUE(cut);
}

TEST_F(pages, committing_twice_keeps_the_contents) {
  auto* const p = static_cast<std::byte*>(reserve(2 * page));
  ASSERT_TRUE(commit(p, page));
  *p = std::byte{9};
  EXPECT_TRUE(commit(p, 2 * page));
  EXPECT_EQ(std::byte{9}, *p);
  EXPECT_TRUE(unmap(p, 2 * page));
}

TEST_F(pages, what_is_mapped_near_a_place_lies_there_if_nothing_else_does) {
  auto* const p = static_cast<std::byte*>(map(3 * page));
  ASSERT_TRUE(unmap(p + page, page));
  EXPECT_EQ(p + page, map_near(p + page, page));
  auto* const elsewhere = static_cast<std::byte*>(map_near(p + page, page));
  ASSERT_NE(nullptr, elsewhere);
  EXPECT_TRUE(elsewhere < p || elsewhere >= p + 3 * page);
  EXPECT_TRUE(writable(elsewhere));
  EXPECT_TRUE(unmap(elsewhere, page));
  EXPECT_TRUE(unmap(p, 3 * page));
}

TEST_F(pages, what_cannot_be_had_is_null_or_false) {
  EXPECT_EQ(nullptr, reserve(PTRDIFF_MAX));
  EXPECT_EQ(nullptr, map(PTRDIFF_MAX));
  auto* const p = static_cast<std::byte*>(map(2 * page));
  ASSERT_TRUE(unmap(p, 2 * page));
  EXPECT_FALSE(is_mapped(p));
  EXPECT_FALSE(commit(p, page));
  EXPECT_FALSE(unmap(p + 1, page));
  EXPECT_FALSE(resize(p, page, 2 * page));
}

TEST_F(pages, advice_on_what_is_not_there_is_refused) {
  if (const char* why = lacks_advice()) GTEST_SKIP() << why;
  auto* const p = static_cast<std::byte*>(map(page));
  ASSERT_TRUE(unmap(p, page));
  EXPECT_FALSE(populate(p, page));
  EXPECT_EQ(discarded::refused, discard_now(p, page));
  EXPECT_EQ(discarded::refused, discard_lazily(p, page));
}

TEST_F(pages, mapped_memory_is_zero_and_writable) {
  auto* const p = static_cast<std::byte*>(map(3 * page));
  ASSERT_NE(nullptr, p);
  EXPECT_TRUE(all_zero(p, 3 * page));
  std::memset(p, 1, 3 * page);
  EXPECT_TRUE(unmap(p + page, page));
  EXPECT_TRUE(readable(p));
  EXPECT_FALSE(is_mapped(p + page));
  EXPECT_TRUE(readable(p + 2 * page));
  EXPECT_TRUE(unmap(p, 3 * page));
}

TEST_F(pages, resize_shrinks_and_grows_where_it_is) {
  auto* const p = static_cast<std::byte*>(map(8 * page));
  std::memset(p, 7, 8 * page);
  ASSERT_TRUE(resize(p, 8 * page, 2 * page));
  EXPECT_EQ(std::byte{7}, p[2 * page - 1]);
  EXPECT_FALSE(is_mapped(p + 2 * page));
  ASSERT_TRUE(resize(p, 2 * page, 8 * page));  // what it gave up is free
  EXPECT_EQ(std::byte{7}, p[0]);
  EXPECT_TRUE(all_zero(p + 2 * page, 6 * page));
  EXPECT_TRUE(unmap(p, 8 * page));
}

TEST_F(pages, resize_does_not_grow_over_a_neighbour) {
  auto* const p = static_cast<std::byte*>(reserve(4 * page));
  ASSERT_TRUE(commit(p, page));
  *p = std::byte{7};
  EXPECT_FALSE(resize(p, page, 2 * page));
  EXPECT_EQ(std::byte{7}, *p);
  EXPECT_TRUE(is_mapped(p + page));
  EXPECT_FALSE(readable(p + page));
  EXPECT_TRUE(unmap(p, 4 * page));
}

TEST_F(pages, move_takes_the_pages_along_and_replaces_what_was_there) {
  auto* const from = static_cast<std::byte*>(map(2 * page));
  auto* const to = static_cast<std::byte*>(reserve(4 * page));
  from[page] = std::byte{3};
  ASSERT_EQ(moved::there, move(from, 2 * page, to, 3 * page));
  EXPECT_FALSE(is_mapped(from));
  EXPECT_EQ(std::byte{3}, to[page]);
  EXPECT_TRUE(all_zero(to + 2 * page, page));
  EXPECT_FALSE(readable(to + 3 * page));  // beyond the new length it is as it was
  EXPECT_TRUE(unmap(to, 4 * page));
}

TEST_F(pages, a_move_that_is_refused_leaves_both_places) {
  auto* const from = static_cast<std::byte*>(map(4 * page));
  auto* const to = static_cast<std::byte*>(map(4 * page));
  *from = std::byte{1};
  *to = std::byte{2};
  EXPECT_EQ(moved::refused, move(from + 1, 2 * page, to, 2 * page));       // not the beginning of a page
  EXPECT_EQ(moved::refused, move(from, 2 * page, to + 1, 2 * page));       // nor that
  EXPECT_EQ(moved::refused, move(from, 2 * page, from + page, 2 * page));  // over itself
  EXPECT_EQ(moved::refused, move(from, 4 * page, to, 2 * page));           // nor is it cut
  EXPECT_EQ(std::byte{1}, *from);
  EXPECT_EQ(std::byte{2}, *to);
  EXPECT_TRUE(unmap(from, 4 * page));
  EXPECT_TRUE(unmap(to, 4 * page));
}

// At a limit, say: by then the destination is unmapped.
TEST_F(pages, a_move_that_is_refused_late_is_told_from_one_that_changed_nothing) {
  auto* const from = static_cast<std::byte*>(map(2 * page));
  *from = std::byte{1};
  auto* const to = static_cast<std::byte*>(reserve(4 * page));
  when_lost = [](void*, std::size_t) {};
  EXPECT_EQ(moved::lost, move(from, 2 * page, to, 4 * page));
  EXPECT_FALSE(is_mapped(to));
  EXPECT_EQ(std::byte{1}, *from);
  EXPECT_TRUE(unmap(from, 2 * page));
}

TEST_F(pages, what_another_thread_maps_where_a_move_was_refused_is_not_taken_for_what_was_there) {
  auto* const from = static_cast<std::byte*>(map(2 * page));
  for (const int access : {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE}) {
    static int others;
    others = access;
    auto* const to = static_cast<std::byte*>(reserve(4 * page));
    when_lost = [](void* at, std::size_t bytes) {
      EXPECT_EQ(at, ::mmap(at, bytes, others, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
    };
    EXPECT_EQ(moved::lost, move(from, 2 * page, to, 4 * page));
    EXPECT_TRUE(is_mapped(to));
    EXPECT_EQ((access & PROT_READ) != 0, readable(to));
    EXPECT_EQ((access & PROT_WRITE) != 0, writable(to));
    EXPECT_TRUE(unmap(to, 4 * page));
  }
  EXPECT_TRUE(unmap(from, 2 * page));
}

TEST_F(pages, discarded_now_reads_as_zero) {
  auto* const p = static_cast<std::byte*>(map(4 * page));
  std::memset(p, 1, 4 * page);
  EXPECT_EQ(discarded::zeroed, discard_now(p + page, 2 * page));
  EXPECT_EQ(std::byte{1}, p[page - 1]);
  EXPECT_FALSE(quietly([&] { return resident(p + page); }));
  EXPECT_TRUE(all_zero(p + page, 2 * page));
  EXPECT_EQ(std::byte{1}, p[3 * page]);
  EXPECT_TRUE(unmap(p, 4 * page));
}

TEST_F(pages, discarded_lazily_is_old_or_zero_and_may_be_written_again) {
  auto* const p = static_cast<std::byte*>(map(4 * page));
  std::memset(p, 1, 4 * page);
  const discarded how = discard_lazily(p, 4 * page);
  EXPECT_NE(discarded::refused, how);
  for (std::size_t i = 0; i != 4 * page; ++i) ASSERT_TRUE(p[i] == std::byte{0} || p[i] == std::byte{1});
  std::memset(p, 2, 4 * page);
  EXPECT_EQ(std::byte{2}, p[page]);
  EXPECT_TRUE(unmap(p, 4 * page));
}

TEST_F(pages, locked_memory_is_not_discarded) {
  if (const char* why = lacks_advice()) GTEST_SKIP() << why;
  auto* const p = static_cast<std::byte*>(map(page));
  *p = std::byte{1};
  if (quietly([&] { return ::syscall(SYS_mlock, p, page); }) != 0) GTEST_SKIP() << "no memory may be locked here";
  EXPECT_EQ(discarded::refused, discard_now(p, page));
  EXPECT_EQ(discarded::refused, discard_lazily(p, page));
  EXPECT_EQ(std::byte{1}, *p);
  EXPECT_TRUE(unmap(p, page));
}

TEST_F(pages, populate_brings_the_pages_in) {
  if (const char* why = lacks_advice()) GTEST_SKIP() << why;
  auto* const p = static_cast<std::byte*>(map(4 * page));
  EXPECT_FALSE(quietly([&] { return resident(p + page); }));
  if (populate(p + page, 2 * page)) {  // Linux 5.14
    EXPECT_FALSE(quietly([&] { return resident(p); }));
    EXPECT_TRUE(quietly([&] { return resident(p + page); }));
    EXPECT_TRUE(quietly([&] { return resident(p + 2 * page); }));
    EXPECT_FALSE(quietly([&] { return resident(p + 3 * page); }));
  }
  EXPECT_TRUE(all_zero(p, 4 * page));
  EXPECT_TRUE(unmap(p, 4 * page));
}

TEST_F(pages, populate_does_not_open_reserved_memory) {
  if (const char* why = lacks_advice()) GTEST_SKIP() << why;
  auto* const p = static_cast<std::byte*>(reserve(page));
  EXPECT_FALSE(populate(p, page));
  EXPECT_FALSE(readable(p));
  EXPECT_TRUE(unmap(p, page));
}

TEST_F(pages, the_machine_has_as_much_memory_as_the_C_library_says) {
  errno = 77;
  EXPECT_EQ(std::size_t(::sysconf(_SC_PHYS_PAGES)) * page_size(), physical_memory());
  EXPECT_EQ(77, errno);
}

TEST_F(pages, the_address_space_limit_is_the_processs) {
  rlimit now;
  ASSERT_EQ(0, ::getrlimit(RLIMIT_AS, &now));
  EXPECT_EQ(now.rlim_cur == RLIM_INFINITY ? SIZE_MAX : now.rlim_cur, address_space_limit());
}

TEST_F(pages, beyond_the_address_space_limit_nothing_can_be_had) {
  if (const char* why = lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ(fine, forked([] {
              const rlimit some{3 * GiB, 3 * GiB};
              if (::setrlimit(RLIMIT_AS, &some) != 0) return 1;
              if (address_space_limit() != 3 * GiB) return 2;
              errno = 77;
              if (reserve(4 * GiB) != nullptr) return 3;
              if (map(4 * GiB) != nullptr) return 4;
              return errno == 77 ? 0 : 5;
            }));
}

TEST_F(pages, a_name_is_refused_or_shows_in_the_list_of_mappings) {
  void* const p = reserve(4 * page);
  const bool named = name(p, 4 * page, "polder here");
  quietly([&] {
    std::ifstream maps("/proc/self/maps");
    const std::string all{std::istreambuf_iterator<char>(maps), {}};
    EXPECT_EQ(named, all.find("[anon:polder here]") != std::string::npos);
    return 0;
  });
  EXPECT_FALSE(name(p, 4 * page, "[not] a \\ name"));
  unmap(p, 4 * page);
}

// A kernel without the call, a sandbox that forbids it.
TEST_F(pages, advice_that_is_refused_is_false_and_changes_nothing) {
  if (const char* why = lacks_filters()) GTEST_SKIP() << why;
  for (const int error : {EINVAL, ENOSYS, EPERM})
    EXPECT_EQ(fine, forked([error] {
                auto* const p = static_cast<std::byte*>(map(page));
                *p = std::byte{1};
                if (!answer(SYS_madvise, error)) return 1;
                errno = 77;
                if (discard_now(p, page) != discarded::refused) return 2;
                if (discard_lazily(p, page) != discarded::refused) return 3;
                if (populate(p, page)) return 4;
                if (advise_huge_pages(p, page, true) || advise_huge_pages(p, page, false)) return 5;
                if (keep_in_core_dumps(p, page, true) || keep_in_core_dumps(p, page, false)) return 6;
                return *p == std::byte{1} && errno == 77 ? 0 : 7;
              }))
        << "errno " << error;
}

TEST_F(pages, a_reservation_whose_ends_are_not_taken_back_is_told) {
  if (const char* why = under_sanitizer()) GTEST_SKIP() << why;
  if (const char* why = lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(fine, forked([] {
              if (!answer(SYS_munmap, ENOMEM)) return 1;
              bool cut = true;
              void* const p = reserve_at_multiple(page, 16 * page, cut);
              return p != nullptr && is_aligned(address(p), 16 * page) && !cut && commit(p, page) ? 0 : 2;
            }));
}

TEST_F(pages, every_call_that_is_refused_is_null_or_false) {
  if (const char* why = lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(fine, forked([] {
              auto* const p = static_cast<std::byte*>(map(2 * page));
              for (const long call : {SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_prctl})
                if (!answer(call, ENOMEM)) return 1;
              errno = 77;
              if (map(page) || reserve(page)) return 2;
              if (commit(p, page)) return 3;
              bool cut = false;
              if (unmap(p, page) || reserve_at_multiple(page, 2 * page, cut) || !cut) return 4;
              if (resize(p, 2 * page, page)) return 5;
              if (move(p, page, p + page, page) != moved::refused) return 6;
              if (name(p, page, "polder")) return 7;
              return errno == 77 ? 0 : 8;
            }));
}

}  // namespace
}  // namespace polder::os
