// Requirement 12: many short threads leave nothing behind.
//   short_lives keep-nothing [threads]   each thread frees all it allocated
//   short_lives hand-over [threads]      each thread ends while its blocks live; its successors' creators free them
// Resident memory after half of the threads and after all of them must be the same, but for 2 MB.
#include <unistd.h>
#include <cstdlib>
#include <cstring>

#include "short_lives.hpp"

using namespace polder;
using namespace polder::threads_test;

int main(int argc, char** argv) {
  bool hand_over = argc > 1 && std::strcmp(argv[1], "hand-over") == 0;
  int threads = argc > 2 ? std::atoi(argv[2]) : 10000;
  ::alarm(unsigned(threads) / 500 + 60);
  const auto [early, late, mapped] = grow_by_short_lives(hand_over, threads);
  probe::say("%d threads: resident %ld KiB after half, %ld KiB after all; address space %+ld KiB", threads, early,
             late, mapped);
  probe::expect(late <= early + 2048, "req 12: %d threads grew the process by %ld KiB", threads, late - early);
  probe::expect(mapped <= 256 << 10, "req 12: %d threads took %ld KiB of address space", threads, mapped);
}
