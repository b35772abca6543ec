#include <polder/mem/span_pages.hpp>

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include <polder/mem/size_class/stepped.hpp>

namespace polder::mem {
namespace {

using classes = size_class::stepped;

// Calls f(block size, page size) for all there are.
template <class F>
void for_each_cut(F f) {
  for (unsigned c = 1; c <= classes::count; ++c)
    for (std::size_t page = 4096; page <= grain_size; page *= 2) f(std::uint32_t(classes::size(c)), page);
}

bool touches(std::uint32_t number, std::uint32_t size, unsigned p, std::size_t page) {
  return number * size < (p + 1) * page && (number + 1) * size > p * page;
}

TEST(span_pages, a_block_is_on_the_pages_it_touches) {
  for_each_cut([](std::uint32_t size, std::size_t page) {
    const std::uint32_t all = std::uint32_t(grain_size) / size;
    const span_pages it(size, page);
    ASSERT_EQ(grain_size / page, it.count());
    for (unsigned p = 0; p != it.count(); ++p) {
      const auto on = it.blocks_on(p);
      for (std::uint32_t n = 0; n != all; ++n) {
        const bool there = touches(n, size, p, page);
        ASSERT_EQ(there, (it.of(n * size) >> p & 1) != 0) << size << ' ' << page << ' ' << n;
        ASSERT_EQ(there, on.first <= n && n < on.last) << size << ' ' << page << ' ' << n;
      }
    }
  });
}

TEST(span_pages, a_page_is_wholly_free_if_all_that_touch_it_are) {
  std::minstd_rand random;
  for_each_cut([&](std::uint32_t size, std::size_t page) {
    const std::uint32_t all = std::uint32_t(grain_size) / size;
    for (const std::uint32_t count : {all, all / 2, std::uint32_t{1}}) {
      for (const unsigned outside : {0u, 1u, 3u, 9u}) {
        std::vector<bool> free(count, true);
        for (unsigned i = 0; i != outside; ++i) free[random() % count] = false;
        span_pages it(size, page);
        for (std::uint32_t n = 0; n != count; ++n)
          if (free[n]) it.note_free(n);
        for (unsigned p = 0; p != it.count(); ++p) {
          bool any = false, whole = true;
          for (std::uint32_t n = 0; n != all; ++n) {
            if (!touches(n, size, p, page)) continue;
            any = true;
            whole = whole && n < count && free[n];
          }
          ASSERT_EQ(any && whole, (it.wholly_free() >> p & 1) != 0) << size << ' ' << page << ' ' << p;
        }
      }
    }
  });
}

TEST(span_pages, blocks_on_given_pages_are_free) {
  for_each_cut([](std::uint32_t size, std::size_t page) {
    const std::uint32_t all = std::uint32_t(grain_size) / size;
    span_pages it(size, page);
    const std::uint32_t pages = 0x2481 & ((std::uint32_t{1} << it.count()) - 1);
    it.note_free_on(pages);
    for (std::uint32_t n = 0; n != all; ++n)
      ASSERT_EQ((it.of(n * size) & pages) != 0, it.is_free(n)) << size << ' ' << page << ' ' << n;
  });
}

}  // namespace
}  // namespace polder::mem
