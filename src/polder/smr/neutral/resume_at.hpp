#pragma once
// resume_at — from a signal handler: lets the thread go on in a function that never returns, as if a function further up its
// stack had called it.
//
//   progress   wait-free
//   in malloc  no; in a signal handler, and nowhere else
//
// The handler returns as handlers do, so the kernel restores the mask of signals and the alternate stack. What was about
// to be done where the signal came is never done.
#include <ucontext.h>

#include <cstdint>

#include <polder/base/sanitizers.hpp>

#if POLDER_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace polder::smr {

#if defined(__x86_64__) || defined(__aarch64__)
inline constexpr bool can_resume_elsewhere = true;
#else
inline constexpr bool can_resume_elsewhere = false;
#endif

// Above it lies all that a function keeps which calls this and then others: its frame has its full size.
[[gnu::always_inline]] inline std::uintptr_t stack_here() noexcept {
#if defined(__x86_64__)
  constexpr std::uintptr_t red_zone = 128;
  std::uintptr_t sp;
  asm volatile("mov %%rsp, %0" : "=r"(sp));
  return sp - red_zone;
#elif defined(__aarch64__)
  std::uintptr_t sp;
  asm volatile("mov %0, sp" : "=r"(sp));
  return sp;
#else
  return 0;
#endif
}

// Tells AddressSanitizer that the frames from `low` up to `high` are gone: they never returned, so what they marked between
// their variables would be found where the next ones stand.
inline void drop_frames([[maybe_unused]] std::uintptr_t low, [[maybe_unused]] std::uintptr_t high) noexcept {
#if POLDER_ASAN
  constexpr std::uintptr_t red_zone = 128;
  low -= red_zone;
  if (low < high) __asan_unpoison_memory_region(reinterpret_cast<void*>(low), high - low);
#endif
}

// context: the handler's third argument. stack: what lies below it is dropped; it lies not below where the signal came.
// Not from there on: signals that come faster than one step is taken would lead deeper each time, to the end of the stack.
inline void resume_at([[maybe_unused]] void* context, [[maybe_unused]] std::uintptr_t stack,
                      [[maybe_unused]] void (*where)(void*), [[maybe_unused]] void* argument) noexcept {
#if defined(__x86_64__)
  auto& gregs = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  constexpr greg_t direction = 0x400;  // calling convention: clear
  drop_frames(static_cast<std::uintptr_t>(gregs[REG_RSP]), stack);
  gregs[REG_RSP] = static_cast<greg_t>((stack & ~std::uintptr_t{15}) - sizeof(void*));  // as a call leaves it
  gregs[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(where));
  gregs[REG_RDI] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(argument));
  gregs[REG_EFL] &= ~direction;
#elif defined(__aarch64__)
  auto& m = static_cast<ucontext_t*>(context)->uc_mcontext;
  constexpr std::uint64_t branch_type = 0xc00;  // of an indirect branch that was just made: its target is left
  drop_frames(m.sp, stack);
  m.sp = stack & ~std::uint64_t{15};
  m.pc = reinterpret_cast<std::uintptr_t>(where);
  m.regs[0] = reinterpret_cast<std::uintptr_t>(argument);
  m.pstate &= ~branch_type;
#endif
}

}  // namespace polder::smr
