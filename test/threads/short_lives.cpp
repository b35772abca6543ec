// Requirement 12: many short threads leave nothing behind.
//   short_lives keep-nothing [threads]   each thread frees all it allocated
//   short_lives hand-over [threads]      each thread ends while its blocks live; its successors' creators free them
// Resident memory after half of the threads and after all of them must be the same, but for 2 MB.
#include <unistd.h>
#include <cstdlib>
#include <cstring>

#include "crew.hpp"

using namespace polder;
using namespace polder::threads_test;

static constexpr int blocks = 24;

struct life {
  bool hand_over;
  std::uint32_t seed;
  void* block[blocks];
};

static void* live(void* self) {
  auto& mine = *static_cast<life*>(self);
  probe::random r(mine.seed);
  for (auto& p : mine.block) p = made(probe::any_size(r), mine.seed);
  if (!mine.hand_over) {
    for (auto& p : mine.block) unmade(p), p = nullptr;
  } else {
    // Half of what it keeps it frees itself, so that it ends with partly used spans.
    for (int i = 0; i < blocks; i += 2) unmade(mine.block[i]), mine.block[i] = nullptr;
  }
  return nullptr;
}

// One of two creators: starts four threads at a time, frees what they leave.
struct creator {
  bool hand_over;
  std::uint32_t first;
  int rounds;

  static void* run(void* self) {
    auto& mine = *static_cast<creator*>(self);
    life lives[4] = {};
    pthread_t threads[4];
    for (int round = 0; round < mine.rounds; round++) {
      for (std::uint32_t i = 0; i < 4; i++) {
        lives[i].hand_over = mine.hand_over;
        lives[i].seed = mine.first + std::uint32_t(round) * 4 + i;
        threads[i] = start(live, &lives[i]);
      }
      for (int i = 0; i < 4; i++) {
        ::pthread_join(threads[i], nullptr);
        for (auto& p : lives[i].block) {
          if (p) unmade(p), p = nullptr;
        }
      }
    }
    return nullptr;
  }
};

static void generation(bool hand_over, int threads, std::uint32_t seed) {
  creator creators[2];
  pthread_t running[2];
  for (std::uint32_t i = 0; i < 2; i++) {
    creators[i] = {hand_over, seed + i * 1000003, threads / 8};
    running[i] = start(creator::run, &creators[i]);
  }
  for (auto thread : running) ::pthread_join(thread, nullptr);
}

int main(int argc, char** argv) {
  bool hand_over = argc > 1 && std::strcmp(argv[1], "hand-over") == 0;
  int threads = argc > 2 ? std::atoi(argv[2]) : 10000;
  ::alarm(unsigned(threads) / 500 + 60);
  // What a program of so many threads at once needs is there after half of them.
  for (int tenth = 0; tenth < 5; tenth++) generation(hand_over, threads / 10, std::uint32_t(tenth) * 99999);
  long early = probe::resident_kib(), early_mapped = probe::mapped_kib();
  for (int tenth = 5; tenth < 10; tenth++) generation(hand_over, threads / 10, std::uint32_t(tenth) * 77777);
  long late = probe::resident_kib(), late_mapped = probe::mapped_kib();
  probe::say("%d threads: resident %ld KiB after half, %ld KiB after all; address space %+ld KiB", threads, early,
             late, late_mapped - early_mapped);
  probe::expect(late <= early + 2048, "req 12: %d threads grew the process by %ld KiB", threads, late - early);
  probe::expect(late_mapped <= early_mapped + (256 << 10), "req 12: %d threads took %ld KiB of address space",
                threads, late_mapped - early_mapped);
}
