#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include <polder/base/align.hpp>
#include <polder/os/errno_keeper.hpp>
#include <polder/os/numa.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/topology.hpp>

namespace polder::os {

bool bind(void* p, std::size_t bytes, unsigned node) noexcept {
  constexpr unsigned bits = 8 * sizeof(unsigned long);
  if (node >= topology::max_nodes) return false;
  unsigned long nodes[topology::max_nodes / bits] = {};
  nodes[node / bits] = 1ul << node % bits;
  const errno_keeper keep;
  // The kernel looks at one bit less than it is told.
  return ::syscall(SYS_mbind, p, bytes, MPOL_PREFERRED, nodes, topology::max_nodes + 1, 0) == 0;
}

int node_of_page(const void* p) noexcept {
  const errno_keeper keep;
  const void* const page = at_address(align_down(address(p), page_size()));
  int status = -1;
  // Without nodes to go to, move_pages moves nothing and tells where each page is, or a negative error.
  if (::syscall(SYS_move_pages, 0, 1, &page, nullptr, &status, 0) != 0) return -1;
  return status < 0 ? -1 : status;
}

}  // namespace polder::os
