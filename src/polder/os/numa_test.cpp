#include <polder/os/numa.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>

#include <polder/os/pages.hpp>
#include <polder/os/topology.hpp>

namespace polder::os {
namespace {

struct mapped {
  std::size_t bytes = 4 * page_size();
  char* p = static_cast<char*>(map(bytes));
  ~mapped() { unmap(p, bytes); }
};

// What a kernel without NUMA, or a sandbox, does not tell, is skipped; the two-node test boots one that does.
TEST(numa, pages_lie_where_they_were_bound) {
  const mapped m;
  ASSERT_NE(nullptr, m.p);
  errno = 77;
  EXPECT_EQ(-1, node_of_page(m.p)) << "untouched";
  const bool bound = bind(m.p, m.bytes, 0);
  m.p[0] = 1;
  const int node = node_of_page(m.p + 17);
  EXPECT_EQ(77, errno);
  if (!bound || node < 0) GTEST_SKIP() << "no memory policy here";
  EXPECT_EQ(0, node);
}

TEST(numa, refusals_are_values) {
  const mapped m;
  errno = 77;
  EXPECT_FALSE(bind(m.p, m.bytes, topology::max_nodes - 1)) << "no such node";
  EXPECT_FALSE(bind(m.p, m.bytes, topology::max_nodes)) << "no such number";
  EXPECT_FALSE(bind(m.p + 1, m.bytes, 0)) << "not a page's beginning";
  unmap(m.p, page_size());
  EXPECT_EQ(-1, node_of_page(m.p));
  EXPECT_EQ(77, errno);
}

}  // namespace
}  // namespace polder::os
