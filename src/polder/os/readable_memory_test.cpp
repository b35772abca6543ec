#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>
#include <csignal>

#include <polder/base/align.hpp>
#include <polder/os/answered_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/readable_memory.hpp>

namespace polder::os {
namespace {

// Pages of which the first and the third can be read.
class readable : public testing::Test {
 protected:
  readable() : page(page_size()) {
    base = address(::mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (std::uintptr_t at = base; at < base + 4 * page; at += 8) *reinterpret_cast<std::uintptr_t*>(at) = ~at;
    ::mprotect(at_address(base + page), page, PROT_NONE);
    ::munmap(at_address(base + 3 * page), page);
  }
  ~readable() override { ::munmap(at_address(base), 3 * page); }

  bool reads(std::uintptr_t at) {
    std::uintptr_t value = 0;
    return memory.word(at, value) && value == ~at;
  }

  std::uintptr_t page;
  std::uintptr_t base;
  readable_memory memory;
};

TEST_F(readable, what_is_there_and_nothing_else) {
  errno = 77;
  for (int twice = 0; twice < 2; ++twice) {
    EXPECT_TRUE(reads(base));
    EXPECT_TRUE(reads(base + page - 8));
    EXPECT_FALSE(reads(base + page));
    EXPECT_FALSE(reads(base + 2 * page - 8));
    EXPECT_TRUE(reads(base + 2 * page));
    EXPECT_TRUE(reads(base + 3 * page - 8));
    EXPECT_FALSE(reads(base + 3 * page));
    EXPECT_TRUE(reads(base + 8)) << "back again";
  }
  EXPECT_EQ(errno, 77);
}

TEST_F(readable, only_whole_words_in_their_places) {
  std::uintptr_t value;
  for (std::uintptr_t i = 1; i < 8; ++i) EXPECT_FALSE(memory.word(base + i, value));
}

TEST_F(readable, no_address_is_too_wrong) {
  std::uintptr_t value;
  for (const std::uintptr_t at : {std::uintptr_t{0}, std::uintptr_t{8}, ~std::uintptr_t{7}, std::uintptr_t{1} << 63,
                                  std::uintptr_t{1} << 62, std::uintptr_t{1} << 47, (std::uintptr_t{1} << 47) - 8})
    EXPECT_FALSE(memory.word(at, value)) << at;
}

TEST_F(readable, no_signal_is_blocked_by_looking) {
  sigset_t before, after;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &before);
  *reinterpret_cast<std::uintptr_t*>(base) = ~std::uintptr_t{0};  // a set of all signals
  std::uintptr_t value;
  EXPECT_TRUE(memory.word(base, value));
  ::pthread_sigmask(SIG_BLOCK, nullptr, &after);
  for (int s = 1; s < NSIG; ++s) EXPECT_EQ(sigismember(&before, s), sigismember(&after, s)) << s;
}

TEST_F(readable, where_a_filter_refuses_only_its_own_page) {
  if (const char* why = lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(fine, forked([&] {
              if (!answer(SYS_rt_sigprocmask, EPERM)) return 1;
              readable_memory m;
              std::uintptr_t value;
              if (m.word(base, value)) return 2;
              return m.word(address(&m), value) ? 0 : 3;
            }));
  EXPECT_EQ(fine, forked([&] {
              if (!answer(SYS_rt_sigprocmask, 0)) return 1;
              readable_memory m;
              std::uintptr_t value;
              return m.word(base + page, value) ? 2 : 0;  // it says that it succeeded, and that cannot be
            }));
}

}  // namespace
}  // namespace polder::os
