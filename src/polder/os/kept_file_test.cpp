#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <polder/os/forked_test.hpp>
#include <polder/os/kept_file.hpp>

namespace polder::os {
namespace {

struct a_pipe {
  a_pipe() { EXPECT_EQ(0, ::pipe(ends)); }
  ~a_pipe() { ::close(ends[0]), ::close(ends[1]); }
  int ends[2];
};

TEST(kept_file, is_found_whatever_becomes_of_the_first_descriptor) {
  a_pipe of, other;
  kept_file kept;
  EXPECT_EQ(-1, kept.found());
  kept.keep(of.ends[1]);
  const int copy = kept.found();
  ASSERT_GE(copy, 0);
  EXPECT_NE(of.ends[1], copy);
  EXPECT_EQ(FD_CLOEXEC, ::fcntl(copy, F_GETFD));
  const int number = of.ends[1];
  ASSERT_EQ(number, ::dup2(other.ends[1], number));  // what was there is closed
  EXPECT_EQ(copy, kept.found());
  ::close(copy);
  EXPECT_EQ(-1, kept.found());
  ASSERT_EQ(copy, ::dup2(other.ends[1], copy));  // nor is that it
  EXPECT_EQ(-1, kept.found());
  ::close(copy);
}

TEST(kept_file, is_the_first_where_the_copy_was_closed) {
  a_pipe of;
  kept_file kept;
  kept.keep(of.ends[1]);
  ::close(kept.found());
  EXPECT_EQ(of.ends[1], kept.found());
}

TEST(kept_file, that_was_closed_from_the_start_is_not_found) {
  kept_file kept;
  kept.keep(-1);
  EXPECT_EQ(-1, kept.found());
}

TEST(kept_file, has_a_low_number_where_files_are_few) {
  EXPECT_EQ(fine, forked([] {
              const rlimit few{20, 20};
              kept_file kept;
              if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return 1;
              kept.keep(0);
              return kept.found() > 2 && kept.found() < 20 ? 0 : 2;
            }));
}

}  // namespace
}  // namespace polder::os
