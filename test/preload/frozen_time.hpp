#pragma once
// frozen_time — what the library that replaces the clock says, whatever is asked and whenever.
#include <time.h>

namespace preload {

constexpr timespec frozen_time{.tv_sec = 1'000'000, .tv_nsec = 7};

}  // namespace preload
