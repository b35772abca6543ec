#pragma once
// system_call — the kernel's door, and nobody in front of it.
//
//   in malloc  yes; in a signal handler: yes; no cancellation point
//   errors     -errno is returned, and errno is kept
//
// The C library's syscall() is what preloaded libraries replace, and theirs may call malloc and take locks: a heap that called it
// from inside malloc would wait for itself.
#include <sys/syscall.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <unistd.h>

#include <polder/os/errno_keeper.hpp>
#endif

namespace polder::os {

// What the kernel takes of an argument: a number or an address.
template <class Argument>
long in_register(Argument a) noexcept {
  if constexpr (std::is_null_pointer_v<Argument>) {
    return 0;
  } else if constexpr (std::is_pointer_v<Argument>) {
    return long(reinterpret_cast<std::uintptr_t>(a));
  } else {
    static_assert(std::is_integral_v<Argument> || std::is_enum_v<Argument>);
    return long(a);
  }
}

// Two forms, for most calls have few arguments: the kernel does not look at registers beyond a call's own.
#if defined(__x86_64__)
inline long enter_kernel(long number, long a, long b, long c) noexcept {
  long result;
  asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}
inline long enter_kernel(long number, long a, long b, long c, long d, long e, long f) noexcept {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
inline long enter_kernel(long number, long a, long b, long c) noexcept {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
}
inline long enter_kernel(long number, long a, long b, long c, long d, long e, long f) noexcept {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
#else  // by the C library's way in
inline long enter_kernel(long number, long a, long b, long c, long d = 0, long e = 0, long f = 0) noexcept {
  const errno_keeper keep;
  const long result = ::syscall(number, a, b, c, d, e, f);
  return result == -1 ? -errno : result;
}
#endif

template <class... Argument>
  requires(sizeof...(Argument) <= 6)
long system_call(long number, Argument... arguments) noexcept {
  const long all[6] = {in_register(arguments)...};
  if constexpr (sizeof...(Argument) <= 3) return enter_kernel(number, all[0], all[1], all[2]);
  else return enter_kernel(number, all[0], all[1], all[2], all[3], all[4], all[5]);
}

}  // namespace polder::os
