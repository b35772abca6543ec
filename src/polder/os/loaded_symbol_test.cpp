#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <polder/os/linux/symbol_table.hpp>
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

#if defined(__aarch64__)
constexpr const char* of_vdso = "__kernel_clock_gettime";
#else
constexpr const char* of_vdso = "__vdso_clock_gettime";
#endif

TEST(loaded_symbol, the_vdso_is_found_without_the_dynamic_linker) {
  EXPECT_EQ(vdso_symbol("polder_no_such_function"), nullptr);
  if (::getauxval(AT_SYSINFO_EHDR) == 0) {
    EXPECT_EQ(vdso_symbol(of_vdso), nullptr);
    GTEST_SKIP() << "no vDSO here";
  }
  EXPECT_NE(vdso_symbol(of_vdso), nullptr);
  EXPECT_EQ(vdso_symbol(of_vdso), loaded_symbol(of_vdso));
}

// Kernels have built the vDSO with either table, or both.
TEST(loaded_symbol, either_table_of_hashes_will_do) {
  const auto* const file = reinterpret_cast<const ElfW(Ehdr)*>(::getauxval(AT_SYSINFO_EHDR));
  if (file == nullptr) GTEST_SKIP() << "no vDSO here";
  auto t = symbol_table::of_file(file);
  if (t.hashes == nullptr || t.gnu_hashes == nullptr) GTEST_SKIP() << "the vDSO has one alone";
  void* const found = t.find(of_vdso);
  t.gnu_hashes = nullptr;
  EXPECT_EQ(found, t.find(of_vdso));
  EXPECT_EQ(nullptr, t.find("polder_no_such_function"));
  t.hashes = nullptr;
  EXPECT_EQ(nullptr, t.find(of_vdso));
}

}  // namespace
}  // namespace polder::os
