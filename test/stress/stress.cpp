// Random malloc, calloc, realloc, memalign and free over stamped blocks: alone, many at once, through shared slots,
// with threads that are born and die.
//   stress [threads] [seconds] [seed]
// The seed is printed; with one thread a run repeats exactly for as many steps as it lasted.
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "../probe/again.hpp"
#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "../probe/random.hpp"
#include "../probe/resident.hpp"
#include "../probe/sizes.hpp"
#include "../probe/stamp.hpp"

using namespace polder;

static constexpr std::size_t shared_slots = 512, own_slots = 192, largest = 4 << 20;
static std::atomic<void*> shared[shared_slots];
static std::atomic<bool> stop;
static std::atomic<long> steps_done;
static std::uint64_t seed;

static void* checked(void* p, std::size_t size, std::size_t alignment) {
  p = probe::opaque(p);
  probe::expect(p != nullptr, "seed %lu: NULL for %zu bytes", seed, size);
  probe::expect((reinterpret_cast<std::uintptr_t>(p) & (alignment - 1)) == 0, "seed %lu: %p is not aligned to %zu",
                seed, p, alignment);
  probe::expect(::malloc_usable_size(p) >= size, "seed %lu: %p holds %zu bytes, %zu were asked for", seed, p,
                ::malloc_usable_size(p), size);
  return p;
}

static void* new_block(probe::random& r) {
  auto size = probe::any_size(r, largest);
  auto how = r.below(16);
  void* p;
  if (how < 10) {
    p = checked(std::malloc(size), size, 16);
  } else if (how < 13) {
    p = checked(std::calloc(1, size), size, 16);
    for (std::size_t i = 0; i < size; i += i < 4096 ? 1 : 509) {
      probe::expect(static_cast<unsigned char*>(p)[i] == 0, "seed %lu: calloc(%zu) is dirty at %zu", seed, size, i);
    }
  } else if (how < 15) {
    auto alignment = std::size_t{16} << r.below(10);
    p = checked(::memalign(alignment, size), size, alignment);
  } else {
    void* q = nullptr;
    auto alignment = std::size_t{8} << r.below(16);
    probe::expect(::posix_memalign(&q, alignment, size) == 0, "seed %lu: posix_memalign(%zu, %zu)", seed, alignment,
                  size);
    p = checked(q, size, alignment);
  }
  probe::stamp(p, size, std::uint32_t(r.next()));
  return p;
}

static void check(const void* p) { probe::expect(probe::intact(p), "seed %lu: block %p was overwritten", seed, p); }

static void* resized(void* p, probe::random& r) {
  check(p);
  auto head = probe::head_of(p);
  auto size = r.below(4) == 0 ? head.size + 1 + r.below(head.size + 64) : probe::any_size(r, largest);
  if (size > largest) size = largest;
  void* q = checked(std::realloc(p, size), size, 16);
  probe::expect(size < probe::min_stamped || probe::body_intact(q, head, size),
                "seed %lu: realloc from %u to %zu lost data", seed, head.size, size);
  probe::stamp(q, size, std::uint32_t(r.next()));
  return q;
}

static void work(std::uint64_t mine, long steps) {
  probe::random r(mine);
  void* own[own_slots] = {};
  for (long i = 0; i < steps && !stop.load(std::memory_order_relaxed); i++) {
    auto dice = r.below(100);
    void*& slot = own[r.below(own_slots)];
    if (dice < 45) {
      if (slot) check(slot), std::free(slot), slot = nullptr;
      else slot = new_block(r);
    } else if (dice < 60) {
      slot = slot ? resized(slot, r) : new_block(r);
    } else if (dice < 65) {
      if (slot) check(slot);
    } else if (dice < 66 && r.below(64) == 0) {
      ::malloc_trim(0);
    } else {
      // Whatever lies there was made by anyone: free it, resize it or keep it.
      slot = shared[r.below(shared_slots)].exchange(slot, std::memory_order_acq_rel);
    }
    if ((i & 255) == 0) steps_done.fetch_add(256, std::memory_order_relaxed);
  }
  for (auto& p : own) {
    if (!p) continue;
    check(p);
    // Half of what is left goes to the others, so that blocks outlive their thread.
    if (r.below(2)) p = shared[r.below(shared_slots)].exchange(p, std::memory_order_acq_rel);
    if (p) check(p), std::free(p);
  }
}

struct line {
  std::uint64_t seed;
  bool mortal;
};

static void* live_once(void* mine) {
  work(*static_cast<std::uint64_t*>(mine), 3000);
  return nullptr;
}

// A mortal line is a row of short-lived threads; the others live as long as the test.
static void* live(void* self) {
  auto& me = *static_cast<line*>(self);
  if (!me.mortal) {
    work(me.seed, LONG_MAX);
    return nullptr;
  }
  for (std::uint64_t mine = me.seed; !stop.load(std::memory_order_relaxed); mine += 1000) {
    pthread_t thread;
    probe::expect(::pthread_create(&thread, nullptr, live_once, &mine) == 0, "pthread_create");
    ::pthread_join(thread, nullptr);
  }
  return nullptr;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  double seconds = argc > 2 ? std::atof(argv[2]) : 5;
  seed = argc > 3 ? std::strtoull(argv[3], nullptr, 0) : std::uint64_t(probe::now() * 1e6);
  if (threads < 1 || threads > 256) probe::fail("stress: 1 to 256 threads, not %s", argv[1]);
  ::alarm(unsigned(seconds) * 4 + 60);
  probe::say("%d threads, %.0f seconds, seed %lu", threads, seconds, seed);

  static line lines[256];
  static pthread_t running[256];
  for (int i = 0; i < threads; i++) {
    lines[i] = {seed + std::uint64_t(i) * 7919, threads > 1 && i % 2 == 1};
    probe::expect(::pthread_create(&running[i], nullptr, live, &lines[i]) == 0, "pthread_create");
  }
  for (double end = probe::now() + seconds; probe::now() < end;) ::usleep(20000);
  stop.store(true);
  for (int i = 0; i < threads; i++) ::pthread_join(running[i], nullptr);
  for (auto& slot : shared) {
    if (void* p = slot.load()) check(p), std::free(p);
  }
  probe::say("%ld steps, %ld KiB resident at the end", steps_done.load(), probe::resident_kib());
}
