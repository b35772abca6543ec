#pragma once
// environ — what the process was started with, read without allocating.
//
//   in malloc  yes, even before the C library has set `environ` (an IFUNC resolver that allocates): then the kernel is asked
#include <span>
#include <string_view>

namespace polder::os {

// The value of the variable, a view with a null pointer when it is not set. The view lies in the environment itself,
// or in `spare` when the environment had to be read from the kernel; a value longer than `spare` is cut.
std::string_view environment_variable(std::string_view name, std::span<char> spare) noexcept;

// The process has privileges its caller lacks (setuid, file capabilities): the environment must not steer it.
bool secure_execution() noexcept;

// Removes the variable in place. Only while no other thread runs.
void remove_environment_variable(std::string_view name) noexcept;

}  // namespace polder::os
