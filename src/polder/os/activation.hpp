#pragma once
// activation — the registers of one activation of a function, by the numbers that call frame information gives them.
//
//   papers     System V psABI for x86-64, 3.6.2; DWARF for the Arm 64-bit Architecture, 4.1
//   in malloc  yes; in signal  yes
#include <array>
#include <cstdint>

namespace polder::os {

#if defined(__x86_64__)
struct machine {
  static constexpr bool is_unwound = true;
  static constexpr unsigned registers = 17;  // rax rdx rcx rbx rsi rdi rbp rsp r8 … r15, and where it returns to
  static constexpr unsigned stack_pointer = 7;
  static constexpr bool has_link_register = false;
  static constexpr unsigned stack_alignment = 8;  // 16 where a function is called; by hand less is kept
};
#elif defined(__aarch64__)
struct machine {
  static constexpr bool is_unwound = true;
  static constexpr unsigned registers = 32;  // x0 … x30, sp
  static constexpr unsigned stack_pointer = 31;
  static constexpr bool has_link_register =
      true;  // x30: a call leaves its return address there and not on the stack
  static constexpr unsigned stack_alignment = 16;
};
#else
struct machine {
  static constexpr bool is_unwound = false;
  static constexpr unsigned registers = 1;
  static constexpr unsigned stack_pointer = 0;
  static constexpr bool has_link_register = false;
  static constexpr unsigned stack_alignment = 8;
};
#endif

struct activation {
  std::uintptr_t& sp() noexcept { return value[machine::stack_pointer]; }
  std::uintptr_t sp() const noexcept { return value[machine::stack_pointer]; }

  // An address within the instruction that it is at. A call may be a function's last instruction, and then the return
  // address is another function's.
  std::uintptr_t place() const noexcept { return is_exact ? pc : pc - 1; }

  std::array<std::uintptr_t, machine::registers> value{};
  std::uintptr_t pc = 0;
  bool is_exact = false;  // a signal came before the instruction at pc; else a call returns to it
};

// A return address as the processor jumps to it: without the signature that AArch64 may have put into its upper bits. What
// is not signed stays as it is, and where there are no signatures the instruction does nothing.
inline std::uintptr_t without_signature(std::uintptr_t return_address) noexcept {
#if defined(__aarch64__)
  register std::uintptr_t x30 asm("x30") = return_address;
  asm("hint #7" : "+r"(x30));  // xpaclri
  return x30;
#else
  return return_address;
#endif
}

}  // namespace polder::os
