#pragma once
// notifier — the kernel itself asks before it runs a memory call (seccomp user notification), so a call that goes past
// libc is met too, and libc's own (thread stacks) fail alongside. Works from `watch` on, in all threads created later.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <cstddef>

#include <polder/os/system_call.hpp>

#include "plan.hpp"

namespace polder::faults {

class notifier {
 public:
  // False if this kernel or container has no user notification.
  static bool watch() {
    static notifier one;
    pthread_t thread;
    if (::pthread_create(&thread, nullptr, serve, &one) != 0) return false;  // before the filter: itself unwatched
    ::pthread_detach(thread);
    sock_filter program[calls + 3];
    unsigned short n = 0;
    program[n++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
    for (unsigned char i = 0; i < calls; i++) {
      program[n++] =
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, unsigned(numbers[i]), static_cast<unsigned char>(calls - i), 0);
    }
    program[n++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[n++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    sock_fprog filter{n, program};
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    long fd = os::system_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
    one.listener_.store(fd >= 0 ? int(fd) : -1, std::memory_order_release);
    return fd >= 0;
  }

 private:
  static constexpr long numbers[calls] = {SYS_mmap,   SYS_munmap,     SYS_mprotect, SYS_madvise,
                                          SYS_mremap, SYS_membarrier, SYS_getrandom};

  // Allocates nothing and maps nothing: it answers for those who wait inside the heap.
  static void* serve(void* self) {
    auto& me = *static_cast<notifier*>(self);
    int fd;
    while ((fd = me.listener_.load(std::memory_order_acquire)) == 0) os::system_call(SYS_sched_yield);
    while (fd > 0) {
      seccomp_notif ask{};
      if (os::system_call(SYS_ioctl, fd, SECCOMP_IOCTL_NOTIF_RECV, &ask) < 0) continue;
      int error = go_on;
      for (int i = 0; i < calls; i++) {
        if (ask.data.nr == numbers[i]) error = decide(call(i));
      }
      seccomp_notif_resp reply{};
      reply.id = ask.id;
      if (error == go_on) reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
      if (error > 0) reply.error = -error;
      os::system_call(SYS_ioctl, fd, SECCOMP_IOCTL_NOTIF_SEND, &reply);
    }
    return nullptr;
  }

  std::atomic<int> listener_{0};
};

}  // namespace polder::faults
