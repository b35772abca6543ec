#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <polder/os/thread_name.hpp>
#include <thread>

namespace {

using namespace polder::os;

TEST(thread_name, is_the_one_that_the_thread_was_given) {
  std::thread([] {
    ASSERT_EQ(pthread_setname_np(pthread_self(), "fifteen letters"), 0);
    EXPECT_EQ(own_thread_number(), std::uint32_t(::gettid()));
    EXPECT_STREQ(name_of_thread(own_thread_number()).text, "fifteen letters");
  }).join();
}

TEST(thread_name, of_nobody_is_empty) { EXPECT_STREQ(name_of_thread(0).text, ""); }

}  // namespace
