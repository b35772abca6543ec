// Requirement 4: the process ends while its threads allocate and free, and one of them in a signal handler that interrupted it inside
// malloc or free: it ends, and as it was told to.
//   endings plain     _exit and abort in such a handler; exit, whose on_exit and atexit handlers use the heap
//   endings inside    quick_exit in such a handler, whose at_quick_exit handlers use the heap in the middle of malloc
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <thread>

#include "../preload/stages.hpp"
#include "../probe/again.hpp"
#include "../probe/made.hpp"
#include "../probe/random.hpp"
#include "../probe/sizes.hpp"

using namespace polder;

namespace {

constexpr int status_told = 5, handlers = 20, rounds = 15;

volatile sig_atomic_t inside;
void (*ending)();
int handlers_run;

[[noreturn]] void churn() {
  for (;;) preload::use_heap("a thread while the process ends");
}

void on_timer(int) {
  if (inside) ending();
}

[[noreturn]] void work_till_interrupted(std::uint64_t seed) {
  struct sigaction action = {};
  action.sa_handler = on_timer;
  ::sigaction(SIGALRM, &action, nullptr);
  probe::random r(seed);
  const itimerval often{{0, 100}, {0, 1'000 + long(r.below(2'000))}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  void* own[64] = {};
  for (;;) {
    void*& p = own[r.below(64)];
    const std::size_t n = probe::any_size(r, 256 << 10);
    inside = 1;
    std::free(p);
    p = probe::opaque(std::malloc(n));
    inside = 0;
    probe::expect(p != nullptr, "malloc is NULL");
  }
}

// The handlers of exit and quick_exit all ran, and the status is what was asked for.
void use_heap_in_a_handler() {
  preload::use_heap("a handler of the process's end");
  ++handlers_run;
}
void last_of_all() {
  if (handlers_run != handlers) ::_exit(1);
}

[[noreturn]] void end_by(std::string_view how, std::uint64_t seed) {
  sigset_t timer;
  sigemptyset(&timer);
  sigaddset(&timer, SIGALRM);
  ::pthread_sigmask(SIG_BLOCK, &timer, nullptr);
  for (int i = 0; i != 2; ++i) std::thread(churn).detach();
  ::pthread_sigmask(SIG_UNBLOCK, &timer, nullptr);
  if (how == "exit") {
    std::atexit(last_of_all);  // registered first, it runs last
    for (int i = 0; i != handlers / 2; ++i) {
      std::atexit(use_heap_in_a_handler);
      ::on_exit(
          [](int status, void* block) {
            if (status != status_told) ::_exit(2);
            probe::unmade(block);
            use_heap_in_a_handler();
          },
          probe::made(1'000, std::uint32_t(i)));
    }
    for (int i = 0; i != 50; ++i) preload::use_heap("main beside threads");
    std::exit(status_told);
  }
  if (how == "_exit") ending = [] { ::_exit(status_told); };
  if (how == "abort") ending = [] { std::abort(); };
  if (how == "quick_exit") {
    std::at_quick_exit(last_of_all);
    for (int i = 0; i != handlers; ++i) std::at_quick_exit(use_heap_in_a_handler);
    ending = [] { std::quick_exit(status_told); };
  }
  work_till_interrupted(seed);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "by") == 0) end_by(argv[2], std::strtoul(argv[3], nullptr, 10));
  const std::string_view which = argc > 1 ? argv[1] : "";
  probe::expect(which == "plain" || which == "inside", "usage: endings plain|inside");
  ::alarm(100);
  const char* const plain[] = {"_exit", "abort", "exit"};
  const char* const within[] = {"quick_exit"};
  for (const char* how :
       which == "plain" ? std::span<const char* const>(plain) : std::span<const char* const>(within)) {
    for (int i = 0; i != rounds; ++i) {
      char seed[24];
      std::snprintf(seed, sizeof seed, "%ld", long(::getpid()) + i);
      const char* const arguments[] = {"by", how, seed, nullptr};
      const char* const none[] = {nullptr};
      const probe::outcome end = probe::run_again(arguments, none, 20);
      const bool as_told = std::strcmp(how, "abort") == 0
                               ? end.signal() == SIGABRT
                               : WIFEXITED(end.status) && WEXITSTATUS(end.status) == status_told;
      char text[64];
      end.describe(text, sizeof text);
      probe::expect(!end.timed_out && as_told && end.err_size == 0, "req 4: %s, seed %s: %s %s", how, seed, text,
                    end.err);
    }
    probe::say("%d times by %s", rounds, how);
  }
}
