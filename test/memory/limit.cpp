// Requirement 16: a hard cap. Never is more committed, nor resident, malloc is NULL with ENOMEM and `new` throws; what is freed
// can be had again.
//   limit churn     under POLDER_OPTIONS=limit=200M: eight threads that want 480 MB
//   limit callback  a cap of 200 MB by API: who is asked gives 64 MB up, in large blocks and in every second of small ones
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "../probe/opaque.hpp"
#include "../probe/resident.hpp"
#include "../probe/the_heap.hpp"
#include "churn.hpp"

using namespace polder;
using namespace polder::memory_test;
using namespace polder::the_heap;

namespace {

constexpr std::size_t cap = std::size_t{200} << 20;
constexpr int threads = 8;

// What of the process is not the heap's, and was not there at first: stacks that are used, the C library's own.
constexpr long beside_kib = 8 << 10;

// Beyond the heap, so that they do not count.
template <class T>
T* mapped(std::size_t n) {
  void* const p =
      ::mmap(nullptr, n * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  probe::expect(p != MAP_FAILED, "no room");
  return static_cast<T*>(p);
}

void expect_below(std::size_t committed) {
  probe::expect(committed <= cap, "req 16: %zu bytes are committed, under a cap of %zu", committed, cap);
}

int ended = 0;

void* churn(void* p) {
  auto& c = *static_cast<churner*>(p);
  c.run();
  __atomic_add_fetch(&ended, 1, __ATOMIC_RELEASE);
  return nullptr;
}

void churn_below_the_cap() {
  probe::expect(statistics().limit == cap, "req 16: the cap in force is %zu", statistics().limit);
  auto* const crew = mapped<churner>(threads);
  const long before = probe::resident_now_kib();
  pthread_t thread[threads];
  for (int i = 0; i != threads; ++i) {
    crew[i].seed = std::uint32_t(i + 1);
    crew[i].bound = std::size_t{60} << 20;
    crew[i].rounds = 12'000;
    probe::expect(::pthread_create(&thread[i], nullptr, churn, &crew[i]) == 0, "no thread");
  }
  std::size_t most = 0;
  long most_resident = 0;
  while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) != threads) {
    const std::size_t now = statistics().committed;
    expect_below(now);
    most = now > most ? now : most;
    const long resident = probe::resident_now_kib() - before;
    most_resident = resident > most_resident ? resident : most_resident;
    ::usleep(500);
  }
  long refused = 0;
  for (int i = 0; i != threads; ++i) ::pthread_join(thread[i], nullptr), refused += crew[i].refused;
  probe::say("%ld of %ld refused; at most %zu MiB committed, %ld MiB resident beside what was before", refused,
             crew[0].rounds * threads, mib(most), most_resident >> 10);
  probe::expect(refused > 0, "req 16: nothing was refused");
  probe::expect(most > cap / 10 * 9, "req 16: never were more than %zu MiB committed", mib(most));
  // The records of the crew are resident and not the heap's.
  const long records = long(sizeof(churner) * threads >> 10);
  probe::expect(most_resident <= long(cap >> 10) + beside_kib + records, "req 16: %ld KiB are resident",
                most_resident);

  char* none = nullptr;
  bool threw = false;
  try {
    none = probe::opaque(new char[cap]);
  } catch (const std::bad_alloc&) {
    threw = true;
  }
  probe::expect(threw && none == nullptr, "req 16: new does not throw");
  for (int i = 0; i != threads; ++i) crew[i].empty();
  void* const p = probe::opaque(std::malloc(cap / 10 * 9));
  probe::expect(p != nullptr, "req 16: everything is free, and there is no block of nine tenths of it");
  std::memset(p, 1, cap / 10 * 9);
  std::free(p);
  crew[0].rounds = 20'000;
  crew[0].refused = 0;
  crew[0].run();
  probe::expect(crew[0].refused == 0, "req 16: what was freed cannot be had again");
}

// ---- the callback -----------------------------------------------------------------------------------------------------

constexpr std::size_t large = 1 << 20, larges = 32, small = 64, smalls = std::size_t{64} << 14;
struct spare {
  void** large_ones;
  void** small_ones;
  int asked = 0, gave = 0;
  std::size_t wanted = 0;
};

// Large ones first; then every second of the small ones, so that hardly a span is empty.
int give_up(std::size_t wanted, void* data) {
  auto& s = *static_cast<spare*>(data);
  ++s.asked;
  s.wanted = wanted;
  void* const p = std::malloc(32);  // served from what there is, or not, and nobody is asked about it
  std::free(p);
  expect_below(statistics().committed);
  if (s.gave == 0) {
    for (std::size_t i = 0; i != larges; ++i) std::free(s.large_ones[i]);
  } else if (s.gave == 1) {
    for (std::size_t i = 0; i < smalls; i += 2) std::free(s.small_ones[i]);
  } else {
    return 0;
  }
  ++s.gave;
  return 1;
}

void ask_who_watches() {
  probe::expect(set_limit(cap) == 0 && statistics().limit == cap, "req 16: a cap cannot be set");
  static spare s;
  s.large_ones = mapped<void*>(larges);
  s.small_ones = mapped<void*>(smalls);
  for (std::size_t i = 0; i != larges; ++i) s.large_ones[i] = std::memset(std::malloc(large), 1, large);
  for (std::size_t i = 0; i != smalls; ++i) s.small_ones[i] = std::memset(std::malloc(small), 1, small);
  probe::expect(on_limit(give_up, &s) == 0, "req 16: nobody can be asked");
  auto** const held = mapped<void*>(cap / small);
  std::size_t n = 0;
  for (void* p; (p = probe::opaque(std::malloc(small))) != nullptr; ++n) held[n] = std::memset(p, 2, small);
  probe::expect(errno == ENOMEM, "req 16: NULL with errno %d", errno);
  const std::size_t live = (n + smalls / 2) * small;
  probe::say("asked %d times, %zu MiB live at the end, %zu MiB committed", s.asked, mib(live),
             mib(statistics().committed));
  probe::expect(s.asked == 3 && s.gave == 2, "req 16: asked %d times", s.asked);
  probe::expect(s.wanted >= small && s.wanted <= large, "req 16: asked for %zu bytes", s.wanted);
  probe::expect(live > cap / 10 * 9, "req 16: only %zu MiB can be had", mib(live));
  expect_below(statistics().committed);
  on_limit(nullptr, nullptr);
  probe::expect(probe::opaque(std::malloc(small)) == nullptr && s.asked == 3, "req 16: asked after its end");
  while (n != 0) std::free(held[--n]);
  probe::expect(set_limit(0) == 0 && statistics().limit == 0, "req 16: a cap cannot be lifted");
  void* const p = probe::opaque(std::malloc(2 * cap));
  probe::expect(p != nullptr, "req 16: without a cap there is no block of 400 MB");
  std::free(p);
}

}  // namespace

int main(int argc, char** argv) {
  probe::expect(argc == 2, "usage: limit churn|callback");
  ::alarm(110);
  if (std::strcmp(argv[1], "churn") == 0) churn_below_the_cap();
  else ask_who_watches();
  return 0;
}
