#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <string>
#include <thread>
#include <utility>

#include <polder/base/align.hpp>
#include <polder/os/output.hpp>

namespace polder::os {
namespace {

// A pipe, and all that comes out of it.
struct pipe_of {
  pipe_of() { EXPECT_EQ(0, ::pipe2(ends.data(), O_CLOEXEC)); }
  ~pipe_of() {
    for (const int end : ends)
      if (end >= 0) ::close(end);
  }
  void close(int which) { ::close(std::exchange(ends[std::size_t(which)], -1)); }
  std::string read_some() {
    char piece[4096];
    const auto n = ::read(ends[0], piece, sizeof piece);
    return {piece, n > 0 ? std::size_t(n) : 0};
  }
  std::string read_all() {
    std::string all;
    for (std::string piece; !(piece = read_some()).empty();) all += piece;
    return all;
  }
  std::array<int, 2> ends{};
};

TEST(output, numbers_and_texts_arrive_when_it_is_finished) {
  pipe_of p;
  output to(p.ends[1]);
  to << "a " << 7u << ' ' << -5 << std::string_view(" b ") << std::numeric_limits<std::uint64_t>::max() << '\n';
  EXPECT_EQ(0, to.finish());
  EXPECT_EQ("a 7 -5 b 18446744073709551615\n", p.read_some());
  EXPECT_EQ(0, to.finish());
}

TEST(output, a_piece_ends_with_a_line) {
  pipe_of p;
  output to(p.ends[1]);
  const std::string line = std::string(299, 'x') + '\n';
  for (int i = 0; i != 4; ++i) to << line;  // 1200 bytes: more than it holds
  EXPECT_EQ(line + line + line, p.read_some());
  EXPECT_EQ(0, to.finish());
  EXPECT_EQ(line, p.read_some());
}

TEST(output, a_line_longer_than_a_piece_arrives_whole) {
  pipe_of p;
  const std::string line(5000, 'x');
  output to(p.ends[1]);
  to << line;
  EXPECT_EQ(0, to.finish());
  p.close(1);
  EXPECT_EQ(line, p.read_all());
}

// The reader is slow, the pipe is small, and signals come.
TEST(output, interrupted_writes_go_on) {
  pipe_of p;
  ASSERT_GT(::fcntl(p.ends[1], F_SETPIPE_SZ, 4096), 0);
  struct sigaction act = {}, before;
  act.sa_handler = [](int) {};  // no SA_RESTART
  ASSERT_EQ(0, ::sigaction(SIGUSR1, &act, &before));
  const pthread_t writer = ::pthread_self();
  std::string all, got;
  std::thread reader([&] {
    for (std::string piece;;) {
      ::pthread_kill(writer, SIGUSR1);
      ::usleep(200);
      if ((piece = p.read_some()).empty()) break;
      got += piece;
    }
  });
  output to(p.ends[1]);
  for (int i = 0; i != 20'000; ++i) {
    all += std::to_string(i) + '\n';
    to << i << '\n';
  }
  EXPECT_EQ(0, to.finish());
  p.close(1);
  reader.join();
  EXPECT_EQ(all, got);
  ::sigaction(SIGUSR1, &before, nullptr);
}

// A file may grow to 1500 bytes: the second piece is taken in part, and then comes the error.
TEST(output, a_short_write_goes_on) {
  const int file = ::memfd_create("output", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  struct sigaction ignore = {}, before;
  ignore.sa_handler = SIG_IGN;
  ASSERT_EQ(0, ::sigaction(SIGXFSZ, &ignore, &before));
  rlimit usual;
  ASSERT_EQ(0, ::getrlimit(RLIMIT_FSIZE, &usual));
  const rlimit little{1500, usual.rlim_max};
  ASSERT_EQ(0, ::setrlimit(RLIMIT_FSIZE, &little));
  output to(file);
  to << std::string(2000, 'x');
  const int failed = to.finish();
  ::setrlimit(RLIMIT_FSIZE, &usual);
  ::sigaction(SIGXFSZ, &before, nullptr);
  EXPECT_EQ(EFBIG, failed);
  EXPECT_EQ(1500, ::lseek(file, 0, SEEK_END));
  ::close(file);
}

TEST(output, the_first_error_is_told_and_errno_kept) {
  errno = 77;
  output nowhere(-1);
  nowhere << std::string(3000, 'x');
  EXPECT_EQ(EBADF, nowhere.finish());
  EXPECT_EQ(77, errno);
  pipe_of p;
  ASSERT_EQ(0, ::fcntl(p.ends[1], F_SETFL, O_NONBLOCK));
  output full(p.ends[1]);
  for (int i = 0; i != 1000; ++i) full << std::string(1000, 'x');
  EXPECT_EQ(EAGAIN, full.finish());
  EXPECT_EQ(77, errno);
}

TEST(output, addresses_and_other_files) {
  pipe_of p;
  output to(p.ends[1]);
  to << at_address(0xdeadbeef) << " <";
  to.copy_file("/proc/self/cmdline").copy_file("/no/where") << ">";
  EXPECT_EQ(0, to.finish());
  p.close(1);
  const std::string all = p.read_all();
  EXPECT_EQ(0u, all.find("0xdeadbeef <")) << all;
  EXPECT_NE(std::string::npos, all.find("unit.os"));
  EXPECT_EQ('>', all.back());
}

}  // namespace
}  // namespace polder::os
