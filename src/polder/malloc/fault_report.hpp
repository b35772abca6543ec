#pragma once
// fault_report — the line that says which block a fault was about, where the heap guards some (mem/guarded_blocks.hpp).

namespace polder::face {

// From now on a SIGSEGV in a guarded block's pages ends the process with one line and SIGABRT; any other goes where it went
// before. A program that handles SIGSEGV itself, later, hears of all of them.
void explain_faults() noexcept;

}  // namespace polder::face
