#pragma once
// numa — where memory lies, asked for and told.
//
//   in malloc  yes; each call is one system call, made raw: libnuma allocates
//   errors     a refusal is a return value; errno is kept. Kernels without NUMA, filters and containers refuse, and a
//              node that has no memory, or that the process may not use, is refused too
#include <cstddef>

namespace polder::os {

// Pages of the range that are touched from now on come from `node` while it has any, then from wherever there are
// (MPOL_PREFERRED). The range begins and ends at pages; it keeps this when its contents are dropped, and across fork.
bool bind(void* p, std::size_t bytes, unsigned node) noexcept;

// The node on which the page lies; -1: nobody has touched it, or the kernel does not say.
int node_of_page(const void* p) noexcept;

}  // namespace polder::os
