#include <polder/smr/neutral/neutraliser.hpp>

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <polder/os/errno_keeper.hpp>
#include <polder/os/futex.hpp>
#include <polder/smr/neutral/chosen_signal.hpp>

namespace polder::smr {

constinit thread_local neutraliser::self neutraliser::self_;

// All of the process's: one signal and the handler that it had.
struct neutraliser_state {
  owned_lock lock;
  chosen_signal number;
  struct sigaction before;  // written under the lock; read by the handler

  static neutraliser_state& process() {
    static constinit neutraliser_state the{};
    return the;
  }

  [[noreturn]] static void resume(void* at) { siglongjmp(static_cast<neutraliser::frame*>(at)->where, 1); }

  static void handle(int number, siginfo_t* why, void* context) {
    neutraliser_state& s = process();
    if (why->si_code != SI_QUEUE || why->si_value.sival_ptr != &s) return s.pass_on(number, why, context);
    neutraliser::frame* const f = neutraliser::self_.reads.load(order::relaxed);
    // A signal may come late, when its phase is over, or to a thread that has another's number now.
    if (f == nullptr || !f->phase->asked()) return;
    resume_at(
        context, f->stack, [](void* at) { resume(at); }, f);
  }

  void pass_on(int number_of, siginfo_t* why, void* context) const {
    const os::errno_keeper keep;
    if ((before.sa_flags & SA_SIGINFO) != 0) {
      if (before.sa_sigaction != nullptr) before.sa_sigaction(number_of, why, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
      before.sa_handler(number_of);
    }
  }

  static bool is_free(int number) {
    struct sigaction now;
    return sigaction(number, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
  }

  // To a thread of this process, so that the handler knows it for ours.
  static bool queue(pid_t thread, int number) {
    siginfo_t why;
    memset(&why, 0, sizeof why);
    why.si_signo = number;
    why.si_code = SI_QUEUE;
    why.si_pid = ::getpid();
    why.si_uid = ::getuid();
    why.si_value.sival_ptr = &process();
    return ::syscall(SYS_rt_tgsigqueueinfo, why.si_pid, thread, number, &why) == 0;
  }

  // Emulators have signals that take a handler and cannot be sent: so one is sent.
  bool try_take(int candidate) {
    struct sigaction ours = {};
    ours.sa_sigaction = handle;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigfillset(&ours.sa_mask);
    struct sigaction was;
    if (sigaction(candidate, nullptr, &was) != 0) return false;
    before = was;
    if (sigaction(candidate, &ours, nullptr) != 0) return false;
    if (queue(static_cast<pid_t>(::syscall(SYS_gettid)), candidate)) return true;
    sigaction(candidate, &was, nullptr);
    return false;
  }

  int find() {
    for (const bool shared : {false, true}) {
      for (int s = SIGRTMAX; s >= SIGRTMIN; --s) {
        if ((shared || is_free(s)) && try_take(s)) return s;
      }
    }
    return 0;  // a filter forbids to send any: phases end by themselves
  }

  int take() {
    const os::errno_keeper keep;
    const int chosen = find();
    if (chosen == 0) return 0;
    pthread_atfork(nullptr, nullptr, [] {
      neutraliser_state& s = process();
      new (&s.lock) owned_lock;
      neutraliser::self_.thread = 0;  // the child's thread has a number of its own
    });
    return chosen;
  }
};

int neutraliser::signal() noexcept { return neutraliser_state::process().number.get(); }

void neutraliser::install() noexcept {
  if (polls) return;
  neutraliser_state& s = neutraliser_state::process();
  s.number.choose([&s] { return os::holding(s.lock); }, [&s] { return s.take(); });
}

pid_t neutraliser::enlist() noexcept {
  const os::errno_keeper keep;
  if (signal() != 0) {
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, signal());
    pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
  }
  return self_.thread = static_cast<pid_t>(::syscall(SYS_gettid));
}

bool neutraliser::send(pid_t thread) noexcept {
  const os::errno_keeper keep;
  const int number = signal();
  return number != 0 && neutraliser_state::queue(thread, number);
}

void neutraliser::restart() noexcept { siglongjmp(self_.reads.load(order::relaxed)->where, 1); }

}  // namespace polder::smr
