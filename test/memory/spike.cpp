// Requirement 10: eight threads build up blocks of mixed sizes, free all but a few, and fall asleep. Within twice the decay time
// what is resident is at most 1.1 times what is live, and 32 MB.
//   spike asleep [MIB]   nobody calls malloc or free any more
//   spike trim [MIB]     malloc_trim(0) is called at once
//   spike forked [MIB]   as asleep, in the child of a process in which it has been so
//   spike ends MIB       the main thread leaves by pthread_exit, then the others end: so does the process
// MIB: 384, 1024 in the full form. The clock is told; a machine may be slow and have others at work, so ten times that long is waited.
#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "../full_form.hpp"
#include "../probe/expect.hpp"
#include "../probe/random.hpp"
#include "../probe/resident.hpp"

using namespace polder;

namespace {

constexpr int threads = 8, kept_of = 20;
constexpr double decay = 1, patience = 10 * 2 * decay;  // seconds
constexpr std::size_t most_blocks = 1 << 20;

pthread_barrier_t full, freed;
std::size_t each;  // bytes
bool stay = true;  // asleep, or they end

std::size_t some_size(probe::random& r) {
  const std::uint64_t kind = r.below(100);
  return kind < 80 ? 16 + r.below(500) : kind < 98 ? 512 + r.below(8'000) : 8'192 + r.below(200'000);
}

// What it keeps is in its own place of this.
struct sleeper {
  std::uintptr_t number;
  std::size_t live = 0;
};

void* build_free_and_sleep(void* p) {
  sleeper& me = *static_cast<sleeper*>(p);
  probe::random r{me.number};
  auto** const blocks = static_cast<void**>(std::malloc(most_blocks * sizeof(void*)));
  auto* const sizes = static_cast<std::size_t*>(std::malloc(most_blocks * sizeof(std::size_t)));
  std::size_t n = 0, bytes = 0;
  for (; n != most_blocks && bytes < each; ++n) {
    bytes += sizes[n] = some_size(r);
    blocks[n] = std::malloc(sizes[n]);
    probe::expect(blocks[n] != nullptr, "no memory");
    std::memset(blocks[n], 1, sizes[n]);
  }
  ::pthread_barrier_wait(&full);
  ::pthread_barrier_wait(&full);
  // Those kept lie together: a page is given back when all of it is free.
  for (std::size_t i = 0; i != n; ++i) {
    if (i < n / kept_of) me.live += sizes[i];
    else std::free(blocks[i]);
  }
  std::free(blocks);
  std::free(sizes);
  ::pthread_barrier_wait(&freed);
  if (stay) ::pause();
  return nullptr;
}

double now() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + double(t.tv_nsec) / 1e9;
}

void build_and_free(sleeper (&crew)[threads], long& peak) {
  ::pthread_barrier_init(&full, nullptr, threads + 1);
  ::pthread_barrier_init(&freed, nullptr, threads + 1);
  for (int i = 0; i != threads; ++i) {
    crew[i] = {.number = std::uintptr_t(i)};
    pthread_t thread;
    probe::expect(::pthread_create(&thread, nullptr, build_free_and_sleep, &crew[i]) == 0, "no thread");
  }
  ::pthread_barrier_wait(&full);
  peak = probe::resident_kib();
  ::pthread_barrier_wait(&full);
  ::pthread_barrier_wait(&freed);
}

// before: what was resident of others' making, which stays.
void spike(bool trim, long before = 0) {
  static sleeper crew[threads];
  long peak = 0;
  build_and_free(crew, peak);
  if (trim) probe::expect(::malloc_trim(0) == 1, "req 10: malloc_trim(0) says that it gave nothing back");
  const double begun = now();
  std::size_t live = 0;
  for (const sleeper& s : crew) live += s.live;
  const long most = before + long(live / 1024 * 11 / 10) + (32 << 10);
  long left = probe::resident_kib();
  for (const double until = begun + (trim ? 0 : patience); left > most && now() < until;
       left = probe::resident_kib()) {
    constexpr timespec pause{0, 20'000'000};
    ::nanosleep(&pause, nullptr);
  }
  probe::say("%ld MiB at the peak; %.2f s after the last free %ld MiB, of %zu live", peak >> 10, now() - begun,
             left >> 10, live >> 20);
  probe::expect(left <= most, "req 10: %ld MiB are resident, of %zu live", left >> 10, live >> 20);
}

}  // namespace

int main(int argc, char** argv) {
  probe::expect(argc == 2 || argc == 3, "usage: spike asleep|trim|forked|ends [MIB]");
  ::alarm(110);
  each = std::size_t(argc == 3 ? std::atol(argv[2]) : is_full_form() ? 1024 : 384) * (1 << 20) / threads;
  if (std::strcmp(argv[1], "ends") == 0) {
    stay = false;
    static sleeper crew[threads];
    long peak = 0;
    build_and_free(crew, peak);
    probe::say("%ld MiB at the peak; the threads leave", peak >> 10);
    ::pthread_exit(nullptr);
  }
  const bool forks = std::strcmp(argv[1], "forked") == 0;
  spike(std::strcmp(argv[1], "trim") == 0);
  if (forks) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(100);
      spike(false, probe::resident_kib());
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    probe::expect(status == 0, "req 10: the child ends with %d", status);
  }
  ::_exit(0);
}
