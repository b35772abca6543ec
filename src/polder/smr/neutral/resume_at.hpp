#pragma once
// resume_at — from a signal handler: lets the thread go on in a function that never returns, as if it had been called where
// the signal came.
//
//   progress   wait-free
//   in malloc  no; in a signal handler, and nowhere else
//
// The handler returns as handlers do, so the kernel restores the mask of signals and the alternate stack. What was about
// to be done where the signal came is never done.
#include <ucontext.h>

#include <cstdint>

namespace polder::smr {

#if defined(__x86_64__) || defined(__aarch64__)
inline constexpr bool can_resume_elsewhere = true;
#else
inline constexpr bool can_resume_elsewhere = false;
#endif

// context: the handler's third argument.
inline void resume_at([[maybe_unused]] void* context, [[maybe_unused]] void (*where)(void*),
                      [[maybe_unused]] void* argument) noexcept {
#if defined(__x86_64__)
  auto& gregs = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  constexpr std::uintptr_t red_zone = 128;
  constexpr greg_t direction = 0x400;  // calling convention: clear
  const std::uintptr_t aligned = (static_cast<std::uintptr_t>(gregs[REG_RSP]) - red_zone) & ~std::uintptr_t{15};
  gregs[REG_RSP] = static_cast<greg_t>(aligned - sizeof(void*));  // as a call leaves it
  gregs[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(where));
  gregs[REG_RDI] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(argument));
  gregs[REG_EFL] &= ~direction;
#elif defined(__aarch64__)
  auto& m = static_cast<ucontext_t*>(context)->uc_mcontext;
  constexpr std::uint64_t branch_type = 0xc00;  // of an indirect branch that was just made: its target is left
  m.sp &= ~std::uint64_t{15};
  m.pc = reinterpret_cast<std::uintptr_t>(where);
  m.regs[0] = reinterpret_cast<std::uintptr_t>(argument);
  m.pstate &= ~branch_type;
#endif
}

}  // namespace polder::smr
