#include <polder/os/resident_pages.hpp>

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>

#include <polder/os/answered_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/os/pages.hpp>

namespace polder::os {
namespace {

struct range {
  std::size_t page = page_size(), bytes = 200 * page;
  std::byte* p = static_cast<std::byte*>(map(bytes));
  range() { advise_huge_pages(p, bytes, false); }
  ~range() { unmap(p, bytes); }
  std::size_t resident(std::size_t first = 0, std::size_t n = 200) const {
    return resident_pages{}.count(p + first * page, n * page);
  }
};

TEST(resident_pages, those_that_were_written_to_count_and_no_others) {
  if (const char* why = lacks_page_map()) GTEST_SKIP() << why;
  const range r;
  EXPECT_EQ(0u, r.resident());
  for (const std::size_t at : {0, 63, 64, 65, 199}) r.p[at * r.page] = std::byte{1};
  EXPECT_EQ(5u, r.resident());
  EXPECT_EQ(2u, r.resident(64, 100));
  EXPECT_EQ(1u, r.resident(199, 1));
  EXPECT_EQ(0u, r.resident(100, 99));
  ASSERT_EQ(discarded::zeroed, discard_now(r.p, 65 * r.page));
  EXPECT_EQ(2u, r.resident());
}

TEST(resident_pages, where_the_page_map_cannot_be_opened_or_read_nothing_is_known_and_errno_stays) {
  if (const char* why = lacks_filters()) GTEST_SKIP() << why;
  for (const long call : {long{SYS_openat}, long{SYS_pread64}})
    EXPECT_EQ(fine, forked([call] {
                const range r;
                if (!answer(call, EACCES)) return 1;
                errno = 7;
                if (r.resident() != resident_pages::unknown) return 2;
                return errno == 7 ? 0 : 3;
              }))
        << call;
}

}  // namespace
}  // namespace polder::os
