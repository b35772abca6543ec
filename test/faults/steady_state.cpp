// Requirement 17: after warm-up the heap makes documented system calls only. Any other ends the process, and is named.
//   steady_state [own_thread]     own_thread: so does the heap's own thread from its start
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <iterator>

#include "documented_calls.hpp"
#include "scenario.hpp"

using namespace polder;
using namespace polder::faults;

// Were the signal blocked where the call is made, the kernel would end the process by SIGSYS itself.
static void name_it(int, siginfo_t* info, void*) {
  probe::fail("req 17: system call %d (see unistd_64.h) is not in the documented set", info->si_syscall);
}

static void allow_only_documented() {
  constexpr unsigned char known = std::size(documented_calls) + std::size(tolerated_calls);
  sock_filter program[known + 3];
  unsigned short n = 0;
  program[n++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  auto allow = [&](long number) {
    auto over = static_cast<unsigned char>(known - (n - 1));
    program[n++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, unsigned(number), over, 0);
  };
  for (long number : documented_calls) allow(number);
  for (long number : tolerated_calls) allow(number);
  program[n++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  program[n++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  sock_fprog filter{n, program};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) probe::skip("no seccomp filter here");
}

static void* make_and_free(void*) {
  constexpr std::size_t many = 24 * 1024, size = 1024;
  static thread_local void* block[many];
  for (void*& p : block) std::memset(p = probe::opaque(std::malloc(size)), 1, size);
  for (void* p : block) std::free(p);
  return nullptr;
}

static void in_a_thread(void* (*f)(void*)) {
  pthread_t other;
  probe::expect(::pthread_create(&other, nullptr, f, nullptr) == 0, "pthread_create");
  ::pthread_join(other, nullptr);
}

// Two threads leave enough behind for the heap to start a thread of its own, which is given a second: the sleep is a futex's.
static void wait_for_own_thread() {
  in_a_thread(make_and_free);
  make_and_free(nullptr);
  timespec until;
  ::clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec++;
  sem_t never;
  ::sem_init(&never, 0, 0);
  while (::sem_timedwait(&never, &until) != 0 && errno == EINTR) {
  }
}

int main(int argc, char**) {
  ::alarm(100);
  struct sigaction action {};
  action.sa_sigaction = name_it;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSYS, &action, nullptr);
  if (argc > 1) {
    in_a_thread([](void* p) { return p; });  // libc makes its first one ready
    allow_only_documented();
    wait_for_own_thread();
    return 0;
  }
  for (std::uint32_t seed = 1; seed <= 5; seed++) scenario::run(seed);
  allow_only_documented();
  for (std::uint32_t seed = 1; seed <= 40; seed++) scenario::run(seed);
  probe::say("40 rounds within %zu documented calls", std::size(documented_calls));
}
