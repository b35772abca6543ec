#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <polder/os/pages.hpp>
#include <polder/os/system_call.hpp>

namespace polder::os {
namespace {

TEST(system_call, returns_what_the_kernel_returns) {
  EXPECT_EQ(::getpid(), system_call(SYS_getpid));
  int ends[2];
  ASSERT_EQ(0, system_call(SYS_pipe2, ends, O_CLOEXEC));
  EXPECT_EQ(3, system_call(SYS_write, ends[1], "abc", 3u));
  char text[8] = {};
  EXPECT_EQ(3, system_call(SYS_read, ends[0], text, sizeof text));
  EXPECT_STREQ("abc", text);
  EXPECT_EQ(0, system_call(SYS_close, ends[0]));
  EXPECT_EQ(0, system_call(SYS_close, ends[1]));
}

TEST(system_call, a_refusal_is_negative_and_errno_is_kept) {
  errno = 1234;
  EXPECT_EQ(-EBADF, system_call(SYS_close, -1));
  EXPECT_EQ(-EFAULT, system_call(SYS_pipe2, nullptr, 0));
  EXPECT_EQ(-ENOENT, system_call(SYS_openat, AT_FDCWD, "", O_RDONLY));
  EXPECT_EQ(1234, errno);
}

// The sixth is where in the file the mapping begins, the fifth which file it is.
TEST(system_call, six_arguments_arrive) {
  char name[] = "/tmp/polder-system-call-XXXXXX";
  const int fd = ::mkstemp(name);
  ASSERT_GE(fd, 0);
  ::unlink(name);
  const std::size_t page = page_size();
  ASSERT_EQ(0, ::ftruncate(fd, off_t(2 * page)));
  ASSERT_EQ(4, ::pwrite(fd, "page", 4, off_t(page)));
  const long at = system_call(SYS_mmap, nullptr, page, PROT_READ, MAP_PRIVATE, fd, page);
  ASSERT_GT(at, 0);
  EXPECT_EQ(0, std::memcmp(at_address(std::uintptr_t(at)), "page", 4));
  EXPECT_EQ(0, system_call(SYS_munmap, at, page));
  ::close(fd);
}

}  // namespace
}  // namespace polder::os
