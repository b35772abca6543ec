// Requirements 3, 6 and 7: memory ends, NULL and ENOMEM come back and nothing else happens, and when the blocks are
// freed all of it is there again, for the same sizes and for others.
//   exhaustion            runs under several limits, each in a process of its own
//   exhaustion here       allocates until the end, as the limits of the process are
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <new>

#include "../probe/again.hpp"
#include "../probe/opaque.hpp"
#include "../probe/resident.hpp"
#include "../probe/stamp.hpp"

using namespace polder;

// A list through the blocks themselves: bookkeeping takes no memory. Behind the head the block is stamped sparsely.
struct chained {
  chained* next;
  std::size_t size;
};

static long fill(std::size_t size, chained*& head) {
  long count = 0;
  for (;;) {
    errno = 0;
    auto* p = static_cast<chained*>(probe::opaque(std::malloc(size)));
    if (!p) {
      probe::expect(errno == ENOMEM, "req 3: NULL for %zu bytes, errno %d (%s)", size, errno, std::strerror(errno));
      return count;
    }
    p->next = head;
    p->size = size;
    for (std::size_t at = sizeof(chained); at + 8 <= size; at += 4096) {
      *reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(p) + at) = reinterpret_cast<std::uint64_t>(p) + at;
    }
    head = p;
    count++;
  }
}

static void empty(chained*& head) {
  while (head) {
    chained* p = head;
    head = p->next;
    for (std::size_t at = sizeof(chained); at + 8 <= p->size; at += 4096) {
      probe::expect(*reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(p) + at) ==
                        reinterpret_cast<std::uint64_t>(p) + at,
                    "req 3: block %p of %zu bytes was overwritten at %zu", static_cast<void*>(p), p->size, at);
    }
    std::free(p);
  }
}

static void refusals_while_full() {
  errno = 0;
  probe::expect(!probe::opaque(std::calloc(64, 1 << 20)) && errno == ENOMEM, "req 3: calloc when full");
  void* p = &p;
  probe::expect(::posix_memalign(&p, 4096, 64 << 20) == ENOMEM && p == &p, "req 3: posix_memalign when full");
  bool thrown = false;
  try {
    probe::opaque(::operator new(64 << 20));
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  probe::expect(thrown, "req 3: operator new did not throw when full");
  probe::expect(!::operator new(64 << 20, std::nothrow), "req 3: new (nothrow) when full");
}

// The new_handler frees a reserve: new must come back with memory.
static void* reserve;
static int handler_calls;
static void spend_reserve() {
  handler_calls++;
  if (!reserve) throw std::bad_alloc();
  std::free(reserve);
  reserve = nullptr;
}

static void new_handler_helps() {
  reserve = std::malloc(12 << 20);
  probe::expect(reserve != nullptr, "no reserve of 12 MB");
  chained* head = nullptr;
  fill(8 << 20, head);
  std::set_new_handler(spend_reserve);
  void* p = probe::opaque(::operator new(8 << 20, std::nothrow));
  std::set_new_handler(nullptr);
  probe::expect(p && handler_calls == 1, "req 3: the new_handler was called %d times, new returned %p",
                handler_calls, p);
  ::operator delete(p);
  empty(head);
}

static void* fill_and_empty(void* size) {
  chained* head = nullptr;
  for (int i = 0; i < 3; i++) {
    fill(reinterpret_cast<std::size_t>(size), head);
    empty(head);
  }
  return nullptr;
}

static constexpr std::size_t sizes[] = {4 << 20, 32, 1000, 20000, 100000, 1 << 20, 9 << 20};

static int exhaust_here() {
  ::alarm(100);
  long first[std::size(sizes)] = {};
  for (int round = 0; round < 3; round++) {
    for (std::size_t i = 0; i < std::size(sizes); i++) {
      chained* head = nullptr;
      long count = fill(sizes[i], head);
      if (round == 0 && i == 0) refusals_while_full();
      empty(head);
      if (round == 0) {
        first[i] = count;
        probe::expect(count > 0, "req 3: not one block of %zu bytes", sizes[i]);
      }
      // All of it again, but for one part in 16 that metadata of other sizes may keep, and a block.
      probe::expect(count >= first[i] - first[i] / 16 - 1,
                    "req 3, 7: %zu bytes: %ld blocks, but %ld the first time", sizes[i], count, first[i]);
    }
  }
  // What is had in small blocks is much of what is had in big ones; the biggest may fall victim to the cut of chunks.
  long best = 0, worst = 1L << 60;
  for (std::size_t i = 0; i < std::size(sizes); i++) {
    if (sizes[i] > 4 << 20) continue;
    best = std::max(best, first[i] * long(sizes[i]));
    worst = std::min(worst, first[i] * long(sizes[i]));
  }
  probe::expect(worst >= best / 3, "req 6: some size gets %ld KiB, another %ld KiB", worst >> 10, best >> 10);

  // realloc that cannot grow leaves the block alone.
  chained* head = nullptr;
  void* p = probe::opaque(std::malloc(3 << 20));
  probe::expect(p != nullptr, "malloc(3 MB) is NULL after all was freed");
  probe::stamp(p, 3 << 20, 9);
  fill(1 << 20, head);
  errno = 0;
  probe::expect(!probe::opaque(std::realloc(p, 64 << 20)) && errno == ENOMEM, "req 3: realloc when full");
  probe::expect_intact(p, "req 3: realloc when full");
  empty(head);
  std::free(p);
  new_handler_helps();

  pthread_t threads[2];
  int started = 0;
  for (; started < 2; started++) {
    auto size = reinterpret_cast<void*>(std::size_t{started ? 1000u : 100000u});
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, 256 << 10);
    if (::pthread_create(&threads[started], &attributes, fill_and_empty, size) != 0) break;
  }
  for (int i = 0; i < started; i++) ::pthread_join(threads[i], nullptr);
  long again = fill(1000, head);
  empty(head);
  probe::expect(again >= first[2] / 2,
                "req 7: after two threads exhausted memory: %ld blocks of 1000, but %ld before", again, first[2]);
  probe::say("%ld MiB at best, %ld MiB at worst, and again", best >> 20, worst >> 20);
  return 0;
}

static void limit(int what, rlim_t bytes) {
  rlimit r{bytes, bytes};
  ::setrlimit(what, &r);
}

int main(int argc, char**) {
  if (argc > 1) return exhaust_here();
  const char* here[] = {"here", nullptr};
  const char* plain[] = {nullptr};
  const char* no_decay[] = {"POLDER_OPTIONS=decay_ms=0", nullptr};
  const char* capped[] = {"POLDER_OPTIONS=arena_size=64M", nullptr};
  int failures = 0;
  auto with = [&](const char* name, const char* const* settings, int what, rlim_t bytes) {
    failures += !probe::passes(name, here, settings, 100, [&] { limit(what, bytes); });
  };
  with("address space 64 MiB", plain, RLIMIT_AS, 64 << 20);
  with("address space 128 MiB", plain, RLIMIT_AS, 128 << 20);
  with("address space 256 MiB", plain, RLIMIT_AS, 256 << 20);
  with("address space 128 MiB, decay_ms=0", no_decay, RLIMIT_AS, 128 << 20);
  with("address space 256 MiB, arena 64 MiB", capped, RLIMIT_AS, 256 << 20);
  with("data 64 MiB", plain, RLIMIT_DATA, 64 << 20);
  with("data 200 MiB", plain, RLIMIT_DATA, 200 << 20);
  return failures ? 1 : 0;
}
