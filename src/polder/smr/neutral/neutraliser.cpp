#include <polder/smr/neutral/neutraliser.hpp>

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <polder/os/errno_keeper.hpp>
#include <polder/os/futex.hpp>

namespace polder::smr {

constinit thread_local neutraliser::self neutraliser::self_;

// All of the process's: one signal and the handler that it had.
struct neutraliser_state {
  owned_lock lock;
  // number: 0 until the handler is there. Written once, under the lock; handler-there: with `before`.
  atomic<int> number;
  struct sigaction before;

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

  void take() {
    const os::errno_keeper keep;
    const int chosen = find();
    if (chosen == 0) return;
    number.store(chosen, order::release);  // sync: handler-there
    pthread_atfork(nullptr, nullptr, [] {
      neutraliser_state& s = process();
      new (&s.lock) owned_lock;
      neutraliser::self_.thread = 0;  // the child's thread has a number of its own
    });
  }
};

int neutraliser::signal() noexcept {
  return neutraliser_state::process().number.load(order::acquire);  // sync: handler-there
}

void neutraliser::install() noexcept {
  if (polls || signal() != 0) return;
  neutraliser_state& s = neutraliser_state::process();
  const os::holding one_at_a_time(s.lock);
  if (s.number.load(order::relaxed) == 0) s.take();
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
