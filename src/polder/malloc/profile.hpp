#pragma once
// profile — the heap profile as a process has it: asked for by option, turned on and off by a signal, written to files.
//
//   errors   one line on standard error; the program goes on
#include <cstdint>

namespace polder::face {

// At start, after the first allocation: starts it, or waits for the signal, if the options say so.
void begin_profile() noexcept;

// At exit: writes what there is, if the options name a file.
void end_profile() noexcept;

// The heap's own code, whose frames a profile leaves out. Empty where it cannot be told from the program's.
struct code_range {
  std::uintptr_t begin = 0, end = 0;
  bool has(const void* p) const noexcept { return reinterpret_cast<std::uintptr_t>(p) - begin < end - begin; }
};
[[gnu::visibility("hidden")]] extern constinit code_range own_code;

}  // namespace polder::face
