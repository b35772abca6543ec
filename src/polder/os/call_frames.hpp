#pragma once
// call_frames — from the registers of a function to those of its caller, by the call frame information that the compiler
// wrote for debuggers and exceptions into .eh_frame.
//
//   papers     DWARF 5, 6.4 (the table and its instructions), 2.5.1 (expressions); Linux Standard Base 5, Core, 10.6.1 (how
//                .eh_frame differs from .debug_frame, augmentations)
//   progress   wait-free: a step for each byte of an entry at most; expressions cannot jump
//   in malloc  yes; in signal  yes: some two KiB of stack
//   errors     whatever is not understood, cut short or led astray: false, and nothing has changed
//
// deviation: no more than four remembered rows; no offsets beyond 32 bits; no jumps, calls or sizes other than a word's in
// expressions. The entries of glibc's procedure linkage tables and signal trampolines, which are written by hand, need none.
#include <cstddef>
#include <cstdint>
#include <span>

#include <polder/os/activation.hpp>
#include <polder/os/dwarf_bytes.hpp>
#include <polder/os/readable_memory.hpp>

namespace polder::os {

// One function's entry (FDE), with what it shares with others (CIE).
struct call_frame_entry {
  dwarf_bytes common_instructions;
  dwarf_bytes instructions;
  std::span<const std::byte> object;  // that they lie in
  std::uintptr_t begin = 0;           // the function's code
  std::uintptr_t end = 0;
  std::uint64_t code_unit = 0;
  std::int64_t data_unit = 0;
  unsigned return_column = 0;  // the register that stands for the return address
  std::uint8_t encoding = 0;   // of pointers to code
  bool of_signal = false;      // the caller did not call: a signal came
};

// The entry at `at`, which lies in `object`, as everything must that belongs to it.
bool read_entry(std::span<const std::byte> object, const std::byte* at, call_frame_entry& entry) noexcept;

// False too where there is no caller: at the first function of a thread.
bool to_caller(activation& a, const call_frame_entry& entry, readable_memory& memory) noexcept;

}  // namespace polder::os
