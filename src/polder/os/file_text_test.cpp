#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include <polder/os/file_text.hpp>

namespace polder::os {
namespace {

struct memory_file {
  int fd = ::memfd_create("text", 0);
  ~memory_file() { ::close(fd); }
  std::string contents() const {
    std::string text(std::size_t(::lseek(fd, 0, SEEK_END)), '\0');
    EXPECT_EQ(ssize_t(text.size()), ::pread(fd, text.data(), text.size(), 0));
    return text;
  }
};

TEST(file_text, text_of_any_length_and_numbers) {
  const memory_file file;
  std::string expected;
  {
    file_text to(file.fd);
    for (unsigned i = 0; i != 3000; ++i) {
      to << i << ": " << std::string(i % 50, 'x') << '\n';
      expected += std::to_string(i) + ": " + std::string(i % 50, 'x') + '\n';
    }
    const std::string longer(10'000, 'y');
    to << longer;
    expected += longer;
    EXPECT_EQ(0, to.flush());
    to << "the end";  // written when it dies
  }
  EXPECT_EQ(expected + "the end", file.contents());
}

TEST(file_text, another_file_comes_whole) {
  const memory_file file;
  file_text to(file.fd);
  to << "<";
  to.copy_file("/proc/self/cmdline").copy_file("/no/where") << ">";
  EXPECT_EQ(0, to.flush());
  const std::string text = file.contents();
  EXPECT_EQ('<', text.front());
  EXPECT_EQ('>', text.back());
  EXPECT_NE(std::string::npos, text.find("unit.os"));
}

TEST(file_text, the_first_error_is_kept_and_errno_too) {
  errno = 7;
  file_text to(-1);
  to << std::string(5000, 'x');
  EXPECT_EQ(EBADF, to.flush());
  to << "more";
  EXPECT_EQ(EBADF, to.flush());
  const int full = ::open("/dev/full", O_WRONLY);
  if (full >= 0) {
    file_text other(full);
    other << "x";
    EXPECT_EQ(ENOSPC, other.flush());
    ::close(full);
  }
  EXPECT_EQ(7, errno);
}

}  // namespace
}  // namespace polder::os
