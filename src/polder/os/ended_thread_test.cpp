#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include <polder/os/answered_test.hpp>
#include <polder/os/ended_thread.hpp>
#include <polder/os/ended_thread_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/os/thread_name.hpp>

namespace polder::os {
namespace {

const std::uint32_t here = own_process_number();

std::uint32_t number_of_an_ended_one() {
  std::uint32_t number = 0;
  std::thread([&] { number = own_thread_number(); }).join();
  await_end(number);
  return number;
}

TEST(ended_thread, is_one_that_is_not_there_any_more) {
  EXPECT_EQ(here, std::uint32_t(::getpid()));
  EXPECT_FALSE(has_ended(here, own_thread_number()));
  std::uint32_t number = 0;
  std::thread other([&] {
    number = own_thread_number();
    EXPECT_FALSE(has_ended(here, number));
  });
  other.join();
  await_end(number);
  errno = 77;
  EXPECT_TRUE(has_ended(here, number));
  EXPECT_EQ(77, errno);
}

TEST(ended_thread, is_none_of_another_process) {
  const std::uint32_t number = number_of_an_ended_one();
  // A child asks about its parent, whose thread has ended: not its affair.
  EXPECT_EQ(fine, forked([&] { return has_ended(here, number) ? 1 : 0; }));
  // Of its own process it knows that no thread has the parent's number.
  EXPECT_EQ(fine, forked([&] { return has_ended(own_process_number(), here) ? 0 : 1; }));
  EXPECT_FALSE(has_ended(std::uint32_t(::getppid()), number));
  EXPECT_FALSE(has_ended(0, number)) << "no process";
}

TEST(ended_thread, is_none_where_a_filter_refuses) {
  if (const char* why = lacks_filters()) GTEST_SKIP() << why;
  const std::uint32_t number = number_of_an_ended_one();
  for (const int error : {ENOSYS, EPERM}) {
    EXPECT_EQ(fine, forked([&] {
                const std::uint32_t child = own_process_number();
                if (!has_ended(child, number)) return 1;
                if (!answer(SYS_tgkill, error)) return 2;
                errno = 77;
                if (has_ended(child, number)) return 3;
                return errno == 77 ? 0 : 4;
              }))
        << "tgkill, errno " << error;
    EXPECT_EQ(fine, forked([&] {
                const std::uint32_t child = own_process_number();
                if (!answer(SYS_getpid, error) || !answer(SYS_gettid, error)) return 1;
                errno = 77;
                if (own_process_number() != 0 || own_thread_number() != 0) return 2;
                if (has_ended(child, number)) return 3;
                return errno == 77 ? 0 : 4;
              }))
        << "getpid, gettid, errno " << error;
  }
}

}  // namespace
}  // namespace polder::os
