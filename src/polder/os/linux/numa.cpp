#include <linux/mempolicy.h>

#include <cstdint>

#include <polder/base/align.hpp>
#include <polder/os/numa.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/system_call.hpp>
#include <polder/os/topology.hpp>

namespace polder::os {

bool bind(void* p, std::size_t bytes, unsigned node) noexcept {
  constexpr unsigned bits = 8 * sizeof(unsigned long);
  if (node >= topology::max_nodes) return false;
  unsigned long nodes[topology::max_nodes / bits] = {};
  nodes[node / bits] = 1ul << node % bits;
  // The kernel looks at one bit less than it is told.
  return system_call(SYS_mbind, p, bytes, MPOL_PREFERRED, nodes, topology::max_nodes + 1, 0) == 0;
}

int node_of_page(const void* p) noexcept {
  const void* const page = at_address(align_down(address(p), page_size()));
  int status = -1;
  // Without nodes to go to, move_pages moves nothing and tells where each page is, or a negative error.
  if (system_call(SYS_move_pages, 0, 1, &page, nullptr, &status, 0) != 0) return -1;
  return status < 0 ? -1 : status;
}

}  // namespace polder::os
