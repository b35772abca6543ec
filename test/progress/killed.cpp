// Threads that leave by the raw exit system call, at whatever instruction: no destructor runs, nothing is given back. All
// others go on; what each strands stays under a bound; and malloc_trim recovers the rest.
//
// Four threads live and work all the time; four more work till a signal arrives whose handler ends them, inside the heap
// where `inside` is asked for, and are replaced. When the last is dead all blocks are freed, those of the dead as far as they
// are known, and trimmed.
//   killed exit|cancel [DEATHS] [SEED]   500; 10,000 in the full form
// cancel: the threads are cancelled where they are, asynchronously. Then destructors run, the heap's own too, in the midst of
// an operation that is never finished.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "../full_form.hpp"
#include "../probe/resident.hpp"
#include "crew.hpp"

using namespace polder;
using namespace polder::progress;

namespace {

constexpr int living = 4, dying = 4;

// What a death inside may strand (src/polder/heap/polder/README.md): the spans of the thread's LAB, 64 KiB each, of which it has here
// in each of 27 classes a hot one and another whose blocks are with other threads; a LAB that it was just emptying; and a
// block of up to 400 KB in hand, or two while one is copied. Of resident memory, on the average of many deaths. A death outside
// strands nothing of the heap's; a block may have been in hand that no one knows of.
constexpr long in_hand_kib = 400, bound_kib = 2 * 27 * 64 + 2 * in_hand_kib;
constexpr worker::appetite modest{.small = 2'000, .large = 400'000};

market blocks;
durations took;
tally tallies[living + dying];
std::atomic<bool> enough{false};
std::atomic<long> inside{0}, outside{0};
std::uint64_t seed;

struct mortal {
  int number;
  std::uint64_t seed;
  std::atomic<pid_t> id{0};
  alignas(worker) std::byte place[sizeof(worker)];
  worker& at_work() {
    return *reinterpret_cast<worker*>(place);
  }  // knows what it held, but for the block it was about
};

bool by_cancel;
thread_local worker* me;
thread_local mortal* my_fate;

void die(int) {
  if (me == nullptr) return;  // not at work yet: it is asked again
  if (my_fate->seed % 8 != 0 && !me->inside()) return;
  ::syscall(SYS_exit, 0);
}

void* work_till_killed(void* fate) {
  my_fate = static_cast<mortal*>(fate);
  me = new (my_fate->place) worker(blocks, tallies[living + my_fate->number], my_fate->seed, took, modest);
  my_fate->id.store(pid_t(::syscall(SYS_gettid)));
  if (by_cancel) ::pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
  for (;;) me->step();
}

void* work(void* number) {
  const auto n = std::size_t(reinterpret_cast<std::uintptr_t>(number));
  worker w(blocks, tallies[n], seed + n, took, modest);
  while (!enough.load(std::memory_order_relaxed)) w.step();
  w.free_all();
  return nullptr;
}

void live_and_die(long deaths) {
  probe::random random(seed);
  struct sigaction action = {};
  action.sa_handler = die;
  ::sigaction(SIGUSR1, &action, nullptr);
  pthread_attr_t small;
  ::pthread_attr_init(&small);
  ::pthread_attr_setstacksize(&small, 64 << 10);

  pthread_t crew[living];
  for (std::uintptr_t i = 0; i != living; ++i)
    probe::expect(::pthread_create(&crew[i], nullptr, work, reinterpret_cast<void*>(i)) == 0, "pthread_create");

  static mortal fates[dying];
  pthread_t mortals[dying];
  const auto begin = [&](int i) {
    fates[i].number = i;
    fates[i].seed = random.next();
    fates[i].id.store(0);
    probe::expect(::pthread_create(&mortals[i], &small, work_till_killed, &fates[i]) == 0, "pthread_create");
  };
  ::malloc_trim(0);
  const long before = probe::resident_kib();
  const auto end = [&](int i) {
    while (fates[i].id.load() == 0) ::usleep(50);
    ::usleep(unsigned(random.below(400)));
    if (by_cancel) ::pthread_cancel(mortals[i]);
    // The kernel clears the word it joins by, however a thread ends.
    for (bool dead = false; !dead;) {
      if (!by_cancel) ::syscall(SYS_tgkill, ::getpid(), fates[i].id.load(), SIGUSR1);
      timespec soon;
      ::clock_gettime(CLOCK_REALTIME, &soon);
      soon.tv_nsec += 200'000;
      if (soon.tv_nsec >= 1'000'000'000) soon.tv_nsec -= 1'000'000'000, ++soon.tv_sec;
      dead = ::pthread_timedjoin_np(mortals[i], nullptr, &soon) == 0;
    }
    (fates[i].at_work().inside() ? inside : outside).fetch_add(1);
    fates[i].at_work().free_all();
  };
  for (int i = 0; i != dying; ++i) begin(i);
  for (long n = 0; n != deaths; ++n) end(int(n % dying)), begin(int(n % dying));
  for (int i = 0; i != dying; ++i) end(i);
  std::uint64_t done = 0, went_on[kinds] = {};
  for (const tally& t : tallies) done += t.of_all();
  // All of the living still do everything.
  for (int i = 0; i != living; ++i)
    for (unsigned k = 0; k != kinds; ++k) {
      went_on[k] = tallies[i].of(kind(k));
      while (tallies[i].of(kind(k)) == went_on[k]) ::usleep(100);
    }
  enough.store(true);
  for (pthread_t t : crew) ::pthread_join(t, nullptr);
  blocks.clear();
  const long untrimmed = probe::resident_kib() - before;
  ::malloc_trim(0);
  const long stranded = probe::resident_kib() - before;
  tell(
      R"("test": "killed", "way": "%s", "inside": %ld, "outside": %ld, "operations": %lu, "untrimmed_kib": %ld, "stranded_kib": %ld)",
      by_cancel ? "cancel" : "exit", inside.load(), outside.load(), (unsigned long)done, untrimmed, stranded);
  probe::expect(stranded < 8192 + inside.load() * bound_kib + outside.load() * in_hand_kib,
                "more than %ld KiB a death inside, and %ld outside", bound_kib, in_hand_kib);
}

}  // namespace

// So many in a process, that what they strand together fits into any machine.
int main(int argc, char** argv) {
  constexpr long most = 250;
  const char* const how = argc > 1 ? argv[1] : "";
  by_cancel = std::strcmp(how, "cancel") == 0;
  probe::expect(by_cancel || std::strcmp(how, "exit") == 0, "usage: killed exit|cancel [DEATHS] [SEED]");
  const long deaths = argc > 2 ? std::atol(argv[2]) : is_full_form() ? 10'000 : 500;
  seed = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : std::uint64_t(::time(nullptr));
  probe::say("%ld deaths, seed %lu", deaths, (unsigned long)seed);
  for (long left = deaths; left > 0; left -= most, seed += 1000) {
    const pid_t child = ::fork();
    probe::expect(child >= 0, "fork");
    if (child == 0) {
      ::alarm(600);
      live_and_die(left < most ? left : most);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    probe::expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x; 14: somebody waits for the dead",
                  unsigned(status));
  }
  return 0;
}
