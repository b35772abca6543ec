// Requirement 3: the new-handler throws, out of every form of new, on many threads. Each goes on using the heap, and then sleeps
// outside it: were it still inside, nobody could claim its buffer, and what it does not use would stay.
#include <malloc.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <iterator>
#include <new>
#include <stdexcept>

#include "../probe/made.hpp"
#include "../probe/sizes.hpp"
#include "heap_now.hpp"

using namespace polder;
using polder::lifecycle::heap_now;

namespace {

constexpr int threads = 20, rounds = 3, classes = 40;
constexpr std::size_t too_much = std::size_t{1} << 47;  // no kernel has so many addresses for a program

struct refused : std::runtime_error {
  refused() : std::runtime_error("the new-handler will not") {}
};
std::atomic<unsigned> asked{0};
void refuse() {
  asked.fetch_add(1);
  probe::unmade(probe::made(100, 7));  // it may use the heap
  throw refused();
}

struct form {
  const char* name;
  void* (*get)();
  bool throws;
};
constexpr std::align_val_t page{4096};
const form forms[] = {
    {"new", [] { return ::operator new(too_much); }, true},
    {"new[]", [] { return ::operator new[](too_much); }, true},
    {"aligned new", [] { return ::operator new(too_much, page); }, true},
    {"aligned new[]", [] { return ::operator new[](too_much, page); }, true},
    {"nothrow new", [] { return ::operator new(too_much, std::nothrow); }, false},
    {"nothrow new[]", [] { return ::operator new[](too_much, std::nothrow); }, false},
    {"aligned nothrow new", [] { return ::operator new(too_much, page, std::nothrow); }, false},
    {"aligned nothrow new[]", [] { return ::operator new[](too_much, page, std::nothrow); }, false},
};

void meet_a_refusal(const form& f) {
  bool thrown = false;
  try {
    void* const p = probe::opaque(f.get());
    probe::expect(p == nullptr, "req 3: %s has 128 TiB", f.name);
  } catch (const refused&) {
    thrown = true;
  }
  probe::expect(thrown == f.throws, "req 3: %s: the handler's exception %s", f.name,
                thrown ? "came out" : "did not come out");
}

pthread_barrier_t refused_all, asleep, over;

void* live(void*) {
  for (int i = 0; i != rounds; ++i)
    for (const form& f : forms) {
      void* const kept = probe::made(1'000, 1);
      meet_a_refusal(f);
      probe::unmade(kept);
    }
  ::pthread_barrier_wait(&refused_all);  // who is refused trims
  // Each twice: a crowd's first span of a class goes when it runs empty, the second stays.
  for (int i = 0; i != 2 * classes; ++i) probe::unmade(probe::made(probe::small_sizes[i / 2], 2));
  ::pthread_barrier_wait(&asleep);
  ::pthread_barrier_wait(&over);
  probe::unmade(probe::made(100, 3));
  return nullptr;
}

}  // namespace

int main() {
  ::alarm(60);
  std::set_new_handler(refuse);
  ::pthread_barrier_init(&refused_all, nullptr, threads);
  ::pthread_barrier_init(&asleep, nullptr, threads + 1);
  ::pthread_barrier_init(&over, nullptr, threads + 1);
  pthread_t crew[threads];
  for (auto& thread : crew) probe::expect(::pthread_create(&thread, nullptr, live, nullptr) == 0, "pthread_create");
  ::pthread_barrier_wait(&asleep);
  const auto before = heap_now().spans;
  ::malloc_trim(0);
  ::malloc_trim(0);  // what came home in the first
  const auto after = heap_now().spans;
  probe::say("%u exceptions or refusals; %lu spans, %lu when the threads sleep and all is trimmed", asked.load(),
             (unsigned long)before, (unsigned long)after);
  probe::expect(asked.load() == threads * rounds * std::size(forms),
                "req 3: the handler was not asked once each time");
  probe::expect(before >= threads * classes / 2, "the threads do not have a span for each class");
  probe::expect(after <= threads + 10, "a thread that an exception went through is inside the heap still");
  ::pthread_barrier_wait(&over);
  for (auto thread : crew) ::pthread_join(thread, nullptr);
}
