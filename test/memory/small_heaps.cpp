// Requirement 15: what huge pages bring in is never a surprise, however small the heap: at most half as much again as without.
//   small_heaps                          every case below with thp=large and with thp=off, each in a process of its own
//   small_heaps BYTES LARGEST THREADS    so much in blocks of 16 bytes to LARGEST, of all threads together, and all alive:
//                                        says how much is resident then, in KiB
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../probe/again.hpp"
#include "../probe/expect.hpp"
#include "../probe/random.hpp"
#include "../probe/resident.hpp"

using namespace polder;

namespace {

constexpr int most_threads = 8;
constexpr double bound = 1.5;
std::size_t bytes_each, largest;
pthread_barrier_t all_are_there;

void* build(void* number) {
  probe::random r(reinterpret_cast<std::uintptr_t>(number));
  for (std::size_t had = 0; had < bytes_each;) {
    const std::size_t n = 16 + r.below(largest - 15);
    void* const p = std::malloc(n);
    probe::expect(p != nullptr, "no memory");
    std::memset(p, 1, n);
    had += n;
  }
  ::pthread_barrier_wait(&all_are_there);
  for (;;) ::pause();
}

[[noreturn]] void show_resident(std::size_t threads) {
  ::pthread_barrier_init(&all_are_there, nullptr, unsigned(threads) + 1);
  for (std::size_t i = 0; i != threads; ++i) {
    pthread_t t;
    probe::expect(::pthread_create(&t, nullptr, build, reinterpret_cast<void*>(i)) == 0, "no thread");
    ::pthread_detach(t);
  }
  ::pthread_barrier_wait(&all_are_there);
  std::printf("%ld", probe::resident_kib());
  std::fflush(stdout);
  std::_Exit(0);
}

long resident(const char* thp, const char* bytes, const char* most, const char* threads) {
  const char* const args[] = {bytes, most, threads, nullptr};
  const char* const settings[] = {thp, nullptr};
  const probe::outcome o = probe::run_again(args, settings, 60);
  probe::expect(o.passed(), "%s bytes of up to %s under %s: %s", bytes, most, thp, o.err);
  return std::atol(o.out);
}

// How much of the program itself is resident, and which thread comes first, differ from run to run: what is above the bound is tried
// again, and counts if it always is.
double least_ratio(const char* bytes, const char* most, const char* threads) {
  double least = 1e9;
  for (int tries = 0; tries != 5 && least > bound; ++tries) {
    const double ratio = double(resident("POLDER_OPTIONS=thp=large", bytes, most, threads)) /
                         double(resident("POLDER_OPTIONS=thp=off", bytes, most, threads));
    if (ratio < least) least = ratio;
  }
  return least;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4) {
    const std::size_t threads = std::strtoul(argv[3], nullptr, 10);
    probe::expect(threads - 1 < most_threads, "1 to %d threads", most_threads);
    bytes_each = std::strtoul(argv[1], nullptr, 10) / threads;
    largest = std::strtoul(argv[2], nullptr, 10);
    show_resident(threads);
  }
  constexpr const char* all_threads[] = {"1", "8"};
  constexpr const char* all_largest[] = {"16", "64", "512", "4096", "30000", "300000"};
  constexpr unsigned tenths_of_a_mib[] = {5,  10, 15, 20, 22,  25,  30,  35,  40, 45,
                                          50, 60, 70, 80, 100, 120, 160, 240, 320};
  double worst = 0;
  char where[64] = "";
  for (const char* const threads : all_threads)
    for (const char* const most : all_largest)
      for (const unsigned tenths : tenths_of_a_mib) {
        char bytes[32];
        std::snprintf(bytes, sizeof bytes, "%u", tenths * ((1u << 20) / 10));
        const double ratio = least_ratio(bytes, most, threads);
        if (ratio <= worst) continue;
        worst = ratio;
        std::snprintf(where, sizeof where, "%s bytes of up to %s, %s threads", bytes, most, threads);
      }
  probe::say("resident at most %.2f of what it is without huge pages: %s", worst, where);
  probe::expect(worst <= bound, "req 15: %.2f of the memory, for huge pages: %s", worst, where);
}
