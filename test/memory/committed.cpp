// Requirement 16: what is committed is what the kernel counts, within 2 % and 4 MB: while two threads build up, after much of
// it was freed here and there and trimmed, and after all was. All of each block's room is written to, and there are no huge pages:
// what is not touched counts for the heap and not for the kernel, and what a huge page brings in for the kernel alone.
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <initializer_list>

#include "../probe/resident.hpp"
#include "../probe/the_heap.hpp"
#include "churn.hpp"

using namespace polder;
using namespace polder::memory_test;
using namespace polder::the_heap;

namespace {

long resident_before, committed_before;

void compare(const char* when) {
  const long resident = probe::resident_kib() - resident_before;
  const long committed = long(statistics().committed >> 10) - committed_before;
  const long apart = committed > resident ? committed - resident : resident - committed;
  probe::say("%s: %ld KiB committed, %ld resident", when, committed, resident);
  probe::expect(apart <= resident / 50 + (4 << 10), "req 16: %s: %ld KiB committed, %ld resident", when, committed,
                resident);
}

void* churn(void* p) {
  static_cast<churner*>(p)->run();
  return nullptr;
}

}  // namespace

int main() {
  ::alarm(110);
  constexpr int threads = 2;
  auto* const crew = static_cast<churner*>(::mmap(nullptr, threads * sizeof(churner), PROT_READ | PROT_WRITE,
                                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
  ::madvise(crew, threads * sizeof(churner), MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < threads * sizeof(churner); i += 4096) reinterpret_cast<volatile char*>(crew)[i] = 0;
  resident_before = probe::resident_kib();
  committed_before = long(statistics().committed >> 10);
  for (const std::size_t each : {150, 20, 0}) {
    pthread_t thread[threads];
    for (int i = 0; i != threads; ++i) {
      crew[i].seed = std::uint32_t(i + 1);
      crew[i].bound = each << 20;
      crew[i].whole = true;
      crew[i].rounds = each == 150 ? 12'000 : each;
      probe::expect(::pthread_create(&thread[i], nullptr, churn, &crew[i]) == 0, "no thread");
    }
    for (const pthread_t t : thread) ::pthread_join(t, nullptr);
    if (each == 0)
      for (int i = 0; i != threads; ++i) crew[i].empty();
    if (each != 150) ::malloc_trim(0);
    compare(each == 150 ? "built up" : each == 20 ? "thinned out and trimmed" : "freed and trimmed");
  }
  return 0;
}
