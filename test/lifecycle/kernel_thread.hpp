#pragma once
// kernel_thread — a thread that the kernel makes and the C library does not know: clone(2) with thread-local storage of its own,
// as the dynamic linker lays it out. At its end nothing runs but the exit system call.
#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "../probe/expect.hpp"

namespace polder::lifecycle {

// Until the kernel has forgotten the thread's number: a thread can be joined a little before.
inline void await_end(pid_t thread) {
  while (::syscall(SYS_tgkill, ::getpid(), thread, 0) == 0) ::sched_yield();
  probe::expect(errno == ESRCH, "tgkill, errno %d", errno);
}

class kernel_thread {
 public:
  static bool are_possible() { return storage_maker() != nullptr && storage_taker() != nullptr; }

  // Runs body(argument). One at a time in an object.
  void start(int (*body)(void*), void* argument) {
    stack_ = static_cast<std::byte*>(
        ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0));
    probe::expect(stack_ != MAP_FAILED, "no stack");
    storage_ = storage_maker()(nullptr);
    probe::expect(storage_ != nullptr, "no thread-local storage");
    auto** const self = static_cast<void**>(storage_);
#if defined(__x86_64__)
    self[0] = self[2] = storage_;  // where the ABI, and the C library, look for the thread pointer's value
#else
    static_cast<void>(self);
#endif
    constexpr int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD |
                          CLONE_SETTLS | CLONE_PARENT_SETTID;
    number_ = ::clone(body, stack_ + stack_bytes, flags, argument, &number_, storage_, nullptr);
    probe::expect(number_ > 0, "clone: errno %d", errno);
  }
  void join() {
    await_end(number_);
    storage_taker()(storage_, true);
    ::munmap(stack_, stack_bytes);
  }

 private:
  static constexpr std::size_t stack_bytes = 128 << 10;
  using maker = void*(void*);
  using taker = void(void*, bool);
  static maker* storage_maker() { return reinterpret_cast<maker*>(::dlsym(RTLD_DEFAULT, "_dl_allocate_tls")); }
  static taker* storage_taker() { return reinterpret_cast<taker*>(::dlsym(RTLD_DEFAULT, "_dl_deallocate_tls")); }

  std::byte* stack_ = nullptr;
  void* storage_ = nullptr;
  pid_t number_ = 0;
};

}  // namespace polder::lifecycle
