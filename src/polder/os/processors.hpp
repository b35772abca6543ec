#pragma once
// processors — how many processors this process may run on, and how to leave one to others.
//
//   in malloc  yes; errno is kept

namespace polder::os {

// Those of the affinity mask at the time of the call; at least 1.
unsigned processors() noexcept;

// Others that wait for this one may run first.
void let_others_run() noexcept;

}  // namespace polder::os
