#pragma once
// crowd — random malloc, calloc, realloc, memalign and free over stamped blocks: alone, many at once, through shared slots,
// with threads that are born and die. Calls says whose: of the program's malloc, or of a heap of the test's own.
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "../probe/again.hpp"
#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "../probe/random.hpp"
#include "../probe/resident.hpp"
#include "../probe/sizes.hpp"
#include "../probe/stamp.hpp"

namespace polder::stress {

inline constexpr int most_threads = 256;

struct arguments {
  int threads;
  double seconds;
  std::uint64_t seed;
};
// [threads] [seconds] [seed]; a run that takes much longer than that is ended.
inline arguments read_arguments(int argc, char** argv, int usual_threads) {
  const arguments asked{argc > 1 ? std::atoi(argv[1]) : usual_threads, argc > 2 ? std::atof(argv[2]) : 5,
                        argc > 3 ? std::strtoull(argv[3], nullptr, 0) : std::uint64_t(probe::now() * 1e6)};
  ::alarm(unsigned(asked.seconds) * 4 + 60);
  return asked;
}

template <class Calls>
class crowd {
 public:
  crowd(Calls calls, std::uint64_t seed) : calls_(calls), seed_(seed) {}

  // Afterwards no thread of the crowd is left; blocks are, in the shared slots. With one thread a run repeats exactly for
  // as many steps as it lasted.
  void live(int threads, double seconds) {
    if (threads < 1 || threads > most_threads) probe::fail("1 to %d threads, not %d", most_threads, threads);
    stop_.store(false);
    for (int i = 0; i < threads; i++) {
      lines_[i] = {this, seed_ + std::uint64_t(i) * 7919, threads > 1 && i % 2 == 1};
      probe::expect(::pthread_create(&running_[i], nullptr, live_line, &lines_[i]) == 0, "pthread_create");
    }
    for (double end = probe::now() + seconds; probe::now() < end;) ::usleep(20000);
    stop_.store(true);
    for (int i = 0; i < threads; i++) ::pthread_join(running_[i], nullptr);
    seed_ += 1'000'003;
  }

  void clear() {
    for (auto& slot : shared_)
      if (void* p = slot.exchange(nullptr)) release(p);
  }

  long steps() const { return steps_.load(); }

 private:
  static constexpr std::size_t shared_slots = 512, own_slots = 192, largest = 4 << 20;

  // A mortal line is a row of short-lived threads; the others live as long as the crowd.
  struct line {
    crowd* of;
    std::uint64_t seed;
    bool mortal;
  };

  void* checked(void* p, std::size_t size, std::size_t alignment) {
    p = probe::opaque(p);
    probe::expect(p != nullptr, "seed %lu: NULL for %zu bytes", seed_, size);
    probe::expect((reinterpret_cast<std::uintptr_t>(p) & (alignment - 1)) == 0,
                  "seed %lu: %p is not aligned to %zu", seed_, p, alignment);
    probe::expect(calls_.usable(p) >= size, "seed %lu: %p holds %zu bytes, %zu were asked for", seed_, p,
                  calls_.usable(p), size);
    return p;
  }

  void* new_block(probe::random& r) {
    auto size = probe::any_size(r, largest);
    auto how = r.below(16);
    void* p;
    if (how < 10) {
      p = checked(calls_.malloc(size), size, 16);
    } else if (how < 13) {
      p = checked(calls_.calloc(size), size, 16);
      for (std::size_t i = 0; i < size; i += i < 4096 ? 1 : 509)
        probe::expect(static_cast<unsigned char*>(p)[i] == 0, "seed %lu: calloc(%zu) is dirty at %zu", seed_, size,
                      i);
    } else {
      auto alignment = how < 15 ? std::size_t{16} << r.below(10) : std::size_t{8} << r.below(16);
      p = checked(calls_.aligned(alignment, size), size, alignment);
    }
    probe::stamp(p, size, std::uint32_t(r.next()));
    return p;
  }

  void check(const void* p) { probe::expect(probe::intact(p), "seed %lu: block %p was overwritten", seed_, p); }
  void release(void* p) {
    check(p);
    calls_.free(p);
  }

  void* resized(void* p, probe::random& r) {
    check(p);
    auto head = probe::head_of(p);
    auto size = r.below(4) == 0 ? head.size + 1 + r.below(head.size + 64) : probe::any_size(r, largest);
    if (size > largest) size = largest;
    void* q = checked(calls_.realloc(p, size), size, 16);
    probe::expect(size < probe::min_stamped || probe::body_intact(q, head, size),
                  "seed %lu: realloc from %u to %zu lost data", seed_, head.size, size);
    probe::stamp(q, size, std::uint32_t(r.next()));
    return q;
  }

  void work(std::uint64_t mine, long steps) {
    probe::random r(mine);
    void* own[own_slots] = {};
    for (long i = 0; i < steps && !stop_.load(std::memory_order_relaxed); i++) {
      auto dice = r.below(100);
      void*& slot = own[r.below(own_slots)];
      if (dice < 45) {
        if (slot) release(slot), slot = nullptr;
        else slot = new_block(r);
      } else if (dice < 60) {
        slot = slot ? resized(slot, r) : new_block(r);
      } else if (dice < 65) {
        if (slot) check(slot);
      } else if (dice < 66 && r.below(64) == 0) {
        calls_.trim();
      } else {
        // Whatever lies there was made by anyone: free it, resize it or keep it.
        slot = shared_[r.below(shared_slots)].exchange(slot, std::memory_order_acq_rel);
      }
      if ((i & 255) == 0) steps_.fetch_add(256, std::memory_order_relaxed);
    }
    for (auto& p : own) {
      if (!p) continue;
      check(p);
      // Half of what is left goes to the others, so that blocks outlive their thread.
      if (r.below(2)) p = shared_[r.below(shared_slots)].exchange(p, std::memory_order_acq_rel);
      if (p) release(p);
    }
    calls_.thread_ends();
  }

  static void* live_once(void* mine) {
    auto& me = *static_cast<line*>(mine);
    me.of->work(me.seed, 3000);
    return nullptr;
  }

  static void* live_line(void* self) {
    auto& me = *static_cast<line*>(self);
    if (!me.mortal) {
      me.of->work(me.seed, LONG_MAX);
      return nullptr;
    }
    for (line mine = me; !me.of->stop_.load(std::memory_order_relaxed); mine.seed += 1000) {
      pthread_t thread;
      probe::expect(::pthread_create(&thread, nullptr, live_once, &mine) == 0, "pthread_create");
      ::pthread_join(thread, nullptr);
    }
    return nullptr;
  }

  Calls calls_;
  std::uint64_t seed_;
  std::atomic<bool> stop_{false};
  std::atomic<long> steps_{0};
  std::atomic<void*> shared_[shared_slots] = {};
  line lines_[most_threads];
  pthread_t running_[most_threads];
};

}  // namespace polder::stress
