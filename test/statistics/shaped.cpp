// shaped — a program that leaves its heap in a known shape, for formats.py: 1000 blocks of 48 bytes of which another thread has
// freed 10, one large block, and twenty LABs more than the first thread's.
//
//   shaped            what is said at its end is said by the option `stats`
//   shaped FORMAT…    says it itself, on standard output: 0, 1 or 2 as polder.h counts, and a line `end` after each
#include <pthread.h>
#include <unistd.h>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "../probe/the_heap.hpp"

using namespace polder;

namespace {

void* blocks[1000];

pthread_barrier_t all_there;

void* work(void* is_first) {
  std::free(probe::opaque(std::malloc(48)));  // has a LAB
  ::pthread_barrier_wait(&all_there);
  for (unsigned i = 0; i != 10 && is_first != nullptr; ++i) std::free(blocks[i * 100]);
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  for (void*& p : blocks) p = probe::opaque(std::malloc(48));
  probe::opaque(std::malloc(200'000));
  pthread_t others[20];
  ::pthread_barrier_init(&all_there, nullptr, 20);
  for (pthread_t& other : others)
    probe::expect(::pthread_create(&other, nullptr, work, &other == others ? others : nullptr) == 0,
                  "pthread_create");
  for (const pthread_t other : others) ::pthread_join(other, nullptr);
  for (int i = 1; i < argc; ++i) {
    const int failed = the_heap::write_statistics(STDOUT_FILENO, std::atoi(argv[i]));
    probe::expect(failed == 0, "polder_write_statistics: errno %d", failed);
    probe::expect(::write(STDOUT_FILENO, "end\n", 4) == 4, "write");
  }
  return 0;
}
