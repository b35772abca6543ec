#include <dlfcn.h>
#include <gtest/gtest.h>

#include <polder/os/loaded_symbol.hpp>

namespace polder::os {
namespace {

TEST(loaded_symbol, finds_what_the_dynamic_linker_finds) {
  for (const char* name : {"qsort", "getenv", "fopen", "pthread_create", "_ZSt17__throw_bad_allocv"})
    EXPECT_EQ(loaded_symbol(name), dlsym(RTLD_DEFAULT, name)) << name;
}

TEST(loaded_symbol, finds_nothing_where_there_is_nothing) {
  EXPECT_EQ(loaded_symbol("polder_no_such_function"), nullptr);
  EXPECT_EQ(loaded_symbol(""), nullptr);
}

TEST(loaded_symbol, beside_tells_one_object_from_another) {
  EXPECT_EQ(loaded_symbol_beside("lsearch", "getenv"), dlsym(RTLD_DEFAULT, "lsearch"));
  EXPECT_EQ(loaded_symbol_beside("lsearch", "_ZSt17__throw_bad_allocv"), nullptr);
}

}  // namespace
}  // namespace polder::os
