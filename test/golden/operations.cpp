// One operation of the heap, many times over, between two marks that callgrind sees: golden.instructions counts what
// runs between them inside the heap's library. Prints how many operations that were.
//
//   operations NAME       one of the names below
//
// A plain user of malloc and free: the heap is the one that is preloaded.
#include <malloc.h>
#include <pthread.h>
#include <valgrind/callgrind.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

void* volatile sink;  // so that no pair is optimised away

void begin() {
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
}
void end() { CALLGRIND_TOGGLE_COLLECT; }

template <class Operation>
unsigned repeat(unsigned times, Operation operation) {
  for (unsigned i = 0; i != 1000; ++i) operation();  // until everything is where it stays
  begin();
  for (unsigned i = 0; i != times; ++i) operation();
  end();
  return times;
}

unsigned pair(std::size_t size) {
  return repeat(10'000, [size] {
    sink = std::malloc(size);
    std::free(sink);
  });
}

unsigned zeroed(std::size_t size) {
  return repeat(10'000, [size] {
    sink = std::calloc(1, size);
    std::free(sink);
  });
}

unsigned aligned(std::size_t alignment, std::size_t size) {
  return repeat(10'000, [=] {
    sink = std::aligned_alloc(alignment, size);
    std::free(sink);
  });
}

// A block that grows by 100 bytes to 8,000; a step is an operation.
unsigned growing() {
  constexpr unsigned steps = 79;
  return steps * repeat(200, [] {
           sink = std::malloc(100);
           for (unsigned i = 0; i != steps; ++i) sink = std::realloc(sink, 100 * (i + 2));
           std::free(sink);
         });
}

unsigned asked() {
  void* const p = std::malloc(64);
  std::size_t bytes = 0;
  return repeat(10'000, [&] {
    bytes += malloc_usable_size(p);
    sink = p;
  });
}

// As `new` and `delete` of an object.
unsigned sized() {
  return repeat(10'000, [] {
    sink = ::operator new(48);
    ::operator delete(sink, 48);
  });
}

// Blocks that stay, so that every span is a fresh one: 64 blocks of 1 KiB each.
constexpr unsigned blocks_a_span = 64, spans = 64;

unsigned refill() {
  for (unsigned i = 0; i != 8 * blocks_a_span; ++i) sink = std::malloc(1024);
  begin();
  for (unsigned i = 0; i != spans * blocks_a_span; ++i) sink = std::malloc(1024);
  end();
  return spans;
}

// Blocks that stay, too large for a span and not a power of two of grains, where there are many already.
unsigned further() {
  constexpr unsigned there = 16'000, more = 1'000;
  for (unsigned i = 0; i != there; ++i) sink = std::malloc(150'000);
  begin();
  for (unsigned i = 0; i != more; ++i) sink = std::malloc(150'000);
  end();
  return more;
}

// One thread allocates, another frees; the owner's next round drains what came home. Both are counted, so both say so.
constexpr unsigned round = 4096, rounds = 8;

struct passing {
  pthread_barrier_t barrier;
  void* blocks[round];
};

void* free_them(void* p) {
  auto& passed = *static_cast<passing*>(p);
  for (unsigned r = 0; r != rounds + 2; ++r) {
    if (r == 2) CALLGRIND_TOGGLE_COLLECT;
    pthread_barrier_wait(&passed.barrier);
    for (void* b : passed.blocks) std::free(b);
    pthread_barrier_wait(&passed.barrier);
  }
  CALLGRIND_TOGGLE_COLLECT;
  return nullptr;
}

unsigned remote() {
  static passing passed;
  pthread_t other;
  if (pthread_barrier_init(&passed.barrier, nullptr, 2) != 0) return 0;
  if (pthread_create(&other, nullptr, free_them, &passed) != 0) return 0;
  for (unsigned r = 0; r != rounds + 2; ++r) {
    if (r == 2) begin();
    for (void*& b : passed.blocks) b = std::malloc(16);
    pthread_barrier_wait(&passed.barrier);
    pthread_barrier_wait(&passed.barrier);
  }
  end();
  pthread_join(other, nullptr);
  return rounds * round;
}

}  // namespace

int main(int count, char** arguments) {
  const char* const name = count == 2 ? arguments[1] : "";
  unsigned n = 0;
  if (std::strcmp(name, "malloc_free_16") == 0) n = pair(16);
  if (std::strcmp(name, "malloc_free_1024") == 0) n = pair(1024);
  if (std::strcmp(name, "malloc_free_40000") == 0) n = pair(40'000);
  if (std::strcmp(name, "realloc_by_100") == 0) n = growing();
  if (std::strcmp(name, "usable_size_64") == 0) n = asked();
  if (std::strcmp(name, "aligned_free_64") == 0) n = aligned(64, 64);
  if (std::strcmp(name, "aligned_free_4096") == 0) n = aligned(4096, 4096);
  if (std::strcmp(name, "calloc_free_4096") == 0) n = zeroed(4096);
  if (std::strcmp(name, "calloc_free_64") == 0) n = zeroed(64);
  if (std::strcmp(name, "new_delete_48") == 0) n = sized();
  if (std::strcmp(name, "refill_1024") == 0) n = refill();
  if (std::strcmp(name, "malloc_150000_further") == 0) n = further();
  if (std::strcmp(name, "malloc_remote_free_16") == 0) n = remote();
  if (n == 0) return std::fprintf(stderr, "operations: no operation '%s'\n", name), 1;
  std::printf("%u\n", n);
  return 0;
}
