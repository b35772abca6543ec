#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <string>

#include <polder/os/print.hpp>

namespace polder::os {
namespace {

template <class... Parts>
std::string shown(const Parts&... parts) {
  line_text text;
  static_cast<void>((text << ... << parts));
  return std::string(text.text());
}

TEST(print, numbers) {
  EXPECT_EQ(shown(0, ' ', 7u, ' ', -5), "0 7 -5");
  EXPECT_EQ(shown(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(shown(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

TEST(print, addresses_are_hexadecimal) {
  EXPECT_EQ(shown(hex{0}, ' ', hex{0xdeadbeef}), "0x0 0xdeadbeef");
  EXPECT_EQ(shown(reinterpret_cast<void*>(0x7f00)), "0x7f00");
  EXPECT_EQ(shown(static_cast<const char*>(nullptr)), "(null)");
}

TEST(print, sizes_take_the_largest_unit_that_divides_them) {
  EXPECT_EQ(shown(bytes{0}), "0 bytes");
  EXPECT_EQ(shown(bytes{1}), "1 byte");
  EXPECT_EQ(shown(bytes{1000}), "1000 bytes");
  EXPECT_EQ(shown(bytes{65536}), "64 KiB");
  EXPECT_EQ(shown(bytes{(1 << 20) + 1024}), "1025 KiB");
  EXPECT_EQ(shown(bytes{std::uint64_t{5} << 50}), "5120 TiB");
}

// What a line leaves in a pipe.
std::string written(auto write) {
  std::array<int, 2> ends;
  EXPECT_EQ(::pipe2(ends.data(), O_NONBLOCK), 0);
  write(ends[1]);
  std::string got(2000, '\0');
  const auto n = ::read(ends[0], got.data(), got.size());
  got.resize(n > 0 ? std::size_t(n) : 0);
  ::close(ends[0]);
  ::close(ends[1]);
  return got;
}

TEST(print, a_line_is_written_when_it_dies) {
  EXPECT_EQ(written([](int fd) { line(fd) << "polder: " << 42; }), "polder: 42\n");
}

TEST(print, a_long_line_loses_its_end_but_not_its_newline) {
  const std::string got = written([](int fd) { line(fd) << std::string(2000, 'x'); });
  EXPECT_EQ(got, std::string(1024, 'x') + '\n');
}

TEST(print, errno_is_kept_even_when_nobody_listens) {
  errno = 77;
  { line(-1) << "nowhere"; }
  EXPECT_EQ(errno, 77);
}

}  // namespace
}  // namespace polder::os
