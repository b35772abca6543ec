#pragma once
// processors — how many processors this process may run on.
//
//   in malloc  yes; errno is kept

namespace polder::os {

// Those of the affinity mask at the time of the call; at least 1.
unsigned processors() noexcept;

}  // namespace polder::os
