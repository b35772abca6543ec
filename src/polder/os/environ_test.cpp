#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include <polder/os/environ.hpp>

namespace polder::os {
namespace {

TEST(environ, finds_whole_names_only) {
  ::setenv("POLDER_TEST_A", "one=two", 1);
  ::setenv("POLDER_TEST_AB", "", 1);
  EXPECT_EQ(environment_variable("POLDER_TEST_A", {}), "one=two");
  EXPECT_EQ(environment_variable("POLDER_TEST_AB", {}), "");
  EXPECT_NE(environment_variable("POLDER_TEST_AB", {}).data(), nullptr);
  EXPECT_EQ(environment_variable("POLDER_TEST_", {}).data(), nullptr);
  EXPECT_EQ(environment_variable("POLDER_TEST_ABC", {}).data(), nullptr);
}

TEST(environ, removes_in_place_and_leaves_the_rest) {
  ::setenv("POLDER_TEST_A", "1", 1);
  ::setenv("POLDER_TEST_AB", "2", 1);
  remove_environment_variable("POLDER_TEST_A");
  EXPECT_EQ(std::getenv("POLDER_TEST_A"), nullptr);
  EXPECT_STREQ(std::getenv("POLDER_TEST_AB"), "2");
}

// Every variable the process was started with, once as the C library has it and once from the kernel.
TEST(environ, the_kernel_says_the_same_before_the_c_library_is_there) {
  char** const kept = environ;
  std::array<char, 64> spare;
  unsigned compared = 0;
  for (char** entry = kept; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == std::string::npos || name.starts_with("POLDER_TEST_")) continue;
    const std::string want = std::string(environment_variable(name, {})).substr(0, spare.size());
    environ = nullptr;
    const std::string_view got = environment_variable(name, spare);
    environ = kept;
    EXPECT_EQ(got, want) << name;
    ++compared;
  }
  EXPECT_GT(compared, 0u);
  environ = nullptr;
  EXPECT_EQ(environment_variable("POLDER_NO_SUCH_VARIABLE", spare).data(), nullptr);
  environ = kept;
}

TEST(environ, an_ordinary_process_may_be_steered) { EXPECT_FALSE(secure_execution()); }

}  // namespace
}  // namespace polder::os
