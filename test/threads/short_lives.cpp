// Requirement 12, and 11 where they hand over: many short threads leave nothing behind.
//   short_lives keep-nothing [threads]   each thread frees all it allocated
//   short_lives hand-over [threads]      each thread ends while its blocks live; its successors' creators free them
// After half of the threads the other half must add no more than 2 MB.
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
  constexpr long most = 2048;
  const auto [resident, mapped] = grow_by_short_lives(hand_over, threads / 2, most);
  probe::say("after %d threads, as many more: resident %+ld KiB, address space %+ld KiB", threads / 2, resident,
             mapped);
  probe::expect(resident <= most, "req 12: %d threads grew the process by %ld KiB", threads / 2, resident);
  probe::expect(mapped <= 256 << 10, "req 12: %d threads took %ld KiB of address space", threads / 2, mapped);
}
