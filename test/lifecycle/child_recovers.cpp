// Requirement 1, and 10 in the child: fork from threads among others that sleep, or allocate and free all the time. In the child
// these are no more. What the sleepers had, their child allocates from; when it has freed it and trimmed, it is given back. Of
// threads that were inside the heap at that moment their buffers are lost, and no more than these held.
//   child_recovers [FORKS of each of two threads]
#include <malloc.h>
#include <semaphore.h>
#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "../fork/child_work.hpp"
#include "../probe/resident.hpp"
#include "heap_now.hpp"

using namespace polder;
using namespace polder::fork_test;
using polder::lifecycle::heap_now;

namespace {

constexpr int sleepers = 3, forkers = 2, busy = 3;
constexpr std::size_t size = 256, blocks = 32768;  // 8 MiB each
constexpr std::size_t theirs_bytes = sleepers * blocks * size;
constexpr int classes = 30;  // of which they have a span each, without a block in use
constexpr std::size_t theirs_spans = sleepers * classes * (64 << 10);
constexpr std::size_t lost_each = 4 << 20;  // a span for each class, and as much as it had in small blocks

void* theirs[sleepers][blocks];
exchange shared;
sem_t ready, over;
unsigned forks;

// What children found, the worst of each.
struct findings {
  std::atomic<std::size_t> adopted_growth, left, buffers;
  std::atomic<long> came_back{1 << 30};  // KiB
};
findings* found;

template <class T>
void note(std::atomic<T>& word, T value, bool worse) {
  if (worse) word.store(value);
}

void* sleep_outside(void* place) {
  auto** const mine = static_cast<void**>(place);
  for (std::size_t i = 0; i != blocks; ++i) mine[i] = made(size, std::uint32_t(i));
  for (int c = 0; c != classes; ++c) unmade(made(probe::small_sizes[std::size_t(c)], 1));
  ::sem_post(&ready);
  while (::sem_wait(&over) != 0) {
  }
  for (std::size_t i = 0; i != blocks; ++i) unmade(mine[i]);
  return nullptr;
}

// Frees every other block of the sleepers, and allocates as much: what was freed serves.
void use_what_they_left(std::size_t active) {
  for (auto& place : theirs)
    for (std::size_t i = 0; i < blocks; i += 2) unmade(place[i]);
  for (auto& place : theirs)
    for (std::size_t i = 0; i < blocks; i += 2) place[i] = made(size, std::uint32_t(i));
  const std::size_t now = heap_now().active, growth = now > active ? now - active : 0;
  probe::expect(growth <= 2 << 20, "req 1: the child took %zu KiB more for what it had freed", growth >> 10);
  note(found->adopted_growth, growth, growth > found->adopted_growth);
}

// Every other one gives back at once, so that it is not for its own use of it that all is tidy.
[[noreturn]] void live_as_a_child(bool uses_it) {
  ::alarm(30);
  const polder_statistics before = heap_now();
  const long resident = probe::resident_kib();
  if (uses_it) use_what_they_left(before.active);
  for (auto& place : theirs)
    for (void* p : place) unmade(p);
  ::malloc_trim(0);
  const polder_statistics after = heap_now();
  const long came_back = resident - probe::resident_kib();
  constexpr std::size_t inside = busy + forkers - 1;  // as many at most
  probe::expect(after.active + theirs_bytes + theirs_spans <= before.active + (1 << 20),
                "req 10: %zu KiB were in use, %zu when the child has freed %zu and had %zu that others left",
                before.active >> 10, after.active >> 10, theirs_bytes >> 10, theirs_spans >> 10);
  probe::expect(after.active <= (inside + 1) * lost_each, "req 1: %zu KiB are lost with %zu threads",
                after.active >> 10, inside);
  probe::expect(after.threads <= inside + 1, "req 1: %lu buffers belong to threads, which are not there",
                (unsigned long)after.threads);
  probe::expect(came_back * 10 >= long(theirs_bytes >> 10) * 9, "req 10: %ld KiB came back of %zu", came_back,
                theirs_bytes >> 10);
  note(found->left, after.active, after.active > found->left);
  note(found->buffers, std::size_t(after.threads), after.threads > found->buffers);
  note(found->came_back, came_back, came_back < found->came_back);
  child_work(shared, 4, 0);  // and a thread of its own, and what the others traded
}

void* fork_on_and_on(void*) {
  probe::random r(9);
  for (unsigned i = 0; i != forks; ++i) {
    for (int n = 0; n != 500; ++n) unmade(made(probe::any_size(r), std::uint32_t(n)));
    const pid_t child = ::fork();
    probe::expect(child >= 0, "fork");
    if (child == 0) live_as_a_child(i % 2 == 0);
    wait_for(child, "a child");
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  forks = argc > 1 ? unsigned(std::atoi(argv[1])) : 12;
  ::alarm(60 + forks);
  found =
      new (::mmap(nullptr, sizeof(findings), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) findings;
  ::sem_init(&ready, 0, 0);
  ::sem_init(&over, 0, 0);
  pthread_t crew[sleepers + forkers];
  for (int i = 0; i != sleepers; ++i)
    probe::expect(::pthread_create(&crew[i], nullptr, sleep_outside, theirs[i]) == 0, "pthread_create");
  for (int i = 0; i != sleepers; ++i)
    while (::sem_wait(&ready) != 0) {
    }
  {
    churners<busy> churning(shared);
    for (int i = sleepers; i != sleepers + forkers; ++i)
      probe::expect(::pthread_create(&crew[i], nullptr, fork_on_and_on, nullptr) == 0, "pthread_create");
    for (int i = sleepers; i != sleepers + forkers; ++i) ::pthread_join(crew[i], nullptr);
  }
  for (int i = 0; i != sleepers; ++i) ::sem_post(&over);
  for (int i = 0; i != sleepers; ++i) ::pthread_join(crew[i], nullptr);
  probe::say(
      "%u children, at worst: %zu KiB more for what was freed before; of %zu KiB %ld came back; %zu KiB left, %zu "
      "buffers",
      forks * forkers, found->adopted_growth.load() >> 10, theirs_bytes >> 10, found->came_back.load(),
      found->left.load() >> 10, found->buffers.load());
  return 0;
}
