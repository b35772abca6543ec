#pragma once
// larson — Larson and Krishnan, "Memory allocation for long-running server applications", 1998, in the settings of
// Michael sec. 4.1 (blocks handed over by one thread), scalloc sec. 7.2 (threads end and pass their blocks on) and
// LRMalloc sec. 4 (slices of an array recycled by new threads).
#include <semaphore.h>

#include "core/run.hpp"

namespace polder::bench {

struct larson {
  static constexpr parameter parameters[] = {
      {"min", 16, 1, 1 << 20, "bytes", "smallest block"},
      {"max", 128, 1, 1 << 20, "bytes", "greatest block"},
      {"objects", 1000, 1, 10'000'000, "blocks", "slots of each thread"},
      {"rounds", 3000, 1, 1'000'000'000, "replacements", "of each slot, on average, in the life of one thread"},
      {"generations", 5, 1, 1'000'000, "threads", "that succeed each other on the same slots"},
      {"seconds", 0, 0, 86'400, "s",
       "0: the fixed number of replacements; else generations follow until this is over"},
      {"start", 0, 0, 2, "", "the slots are filled by their first thread, by one thread for all, or not",
       "own|handed|empty"},
  };
  static constexpr preset presets[] = {
      {"scalloc-fig8", "scalloc, figure 8: 7 bytes, 10^3 objects a thread, 10^4 rounds a slot, threads end, 10 s",
       "min=7 max=7 objects=1000 rounds=10000 generations=2 seconds=10 start=own"},
      {"scalloc-fig8-scaled", "scalloc, figure 8, a fixed number of replacements",
       "min=7 max=7 objects=1000 rounds=4000 generations=4 start=own"},
      {"michael-fig8e", "Michael, figure 8e: 16 to 80 bytes, 1024 blocks a thread handed over, 30 s",
       "min=16 max=80 objects=1024 generations=1 seconds=30 start=handed"},
      {"michael-fig8e-scaled", "Michael, figure 8e, a fixed number of replacements",
       "min=16 max=80 objects=1024 rounds=15000 generations=1 start=handed"},
      {"lrmalloc-fig3",
       "LRMalloc, figure 3: 16 to 128 bytes, 10 million mallocs a thread into 1000 slots, slices recycled",
       "min=16 max=128 objects=1000 rounds=10000 generations=4 start=empty"},
      {"lrmalloc-fig3-scaled", "LRMalloc, figure 3, shorter lives and more of them",
       "min=16 max=128 objects=1000 rounds=300 generations=40 start=empty"},
      {"quick", "scalloc, figure 8, much shorter", "min=7 max=7 objects=1000 rounds=1000 generations=4 start=own"},
      {"smoke", "for tests", "objects=100 rounds=20 generations=3"},
      {"smoke-handed", "for tests", "objects=100 rounds=40 generations=1 start=handed"},
      {"smoke-empty", "for tests", "objects=100 rounds=20 generations=3 start=empty"},
  };
  static constexpr workload_info info{
      .name = "larson",
      .title = "Larson",
      .paper = "Larson and Krishnan 1998; Michael fig. 8e; scalloc fig. 8; LRMalloc fig. 3",
      .what =
          "A server: each thread replaces blocks at random slots, then ends and leaves its slots to a new thread.",
      .shows = "Irregular sizes and lifetimes for long, and what becomes of a dead thread's memory and caches.",
      .parameters = parameters,
      .presets = presets,
  };

  struct slot {
    void* block = nullptr;
    std::uint32_t size = 0;
    std::uint32_t by = 0;  // the generation that allocated it
    std::uint64_t key = 0;
  };

  // The slots and what remains to be done on them: passed from thread to thread.
  struct slice {
    worker* w = nullptr;
    slot* slots = nullptr;
    std::uint32_t generation = 0;
    bool last = false;
    sem_t over;
  };

  static constexpr std::uint32_t by_setup = ~0u;

  static void put(slice& s, slot& at) {
    run& r = *s.w->of;
    at.size = static_cast<std::uint32_t>(s.w->numbers.between(r.with.size("min"), r.with.size("max")));
    at.by = s.generation;
    at.key = s.w->next_key();
    at.block = s.w->allocate(at.size, at.key);
  }

  static void take(slice& s, slot& at) {
    if (at.block == nullptr) return;
    s.w->release(at.block, at.size, at.key);
    run& r = *s.w->of;
    const bool did_setup = s.generation == 0 && r.same_thread(s.w->id, r.setup().id);
    if (at.by != s.generation && !(at.by == by_setup && did_setup)) ++s.w->remote_frees;
    at.block = nullptr;
  }

  static void execute(run& r) {
    const std::size_t objects = r.with.size("objects");
    const std::size_t min = r.with.size("min");
    const std::size_t max = r.with.size("max");
    if (min > max) r.reject("'min' is above 'max'");
    mapped_array<slot> slots(objects * r.threads);
    mapped_array<slice> slices(r.threads);

    if (r.with.word("start") == "handed") {
      slice s{};
      s.w = &r.setup();
      s.generation = by_setup;
      for (slot& at : slots) put(s, at);
      for (std::size_t i = 0; i < 2 * slots.size(); ++i) {
        slot& at = slots[s.w->numbers.below(slots.size())];
        take(s, at);
        put(s, at);
      }
    }

    r.measure([&](worker& w) {
      slice& s = slices[w.id];
      s.w = &w;
      s.slots = slots.begin() + w.id * objects;
      if (const auto seconds = r.with["seconds"]; seconds != 0)
        w.deadline_ns = w.begin_ns + seconds * 1'000'000'000;
      sem_init(&s.over, 0, 0);
      live(s);
      while (sem_wait(&s.over) != 0) {
      }
      sem_destroy(&s.over);
    });
  }

  // One thread's life.
  static void live(slice& s) {
    worker& w = *s.w;
    w.take_over();
    run& r = *w.of;
    const std::size_t objects = r.with.size("objects");
    const std::size_t min = r.with.size("min");
    const std::size_t max = r.with.size("max");
    const auto generations = static_cast<std::uint32_t>(r.with["generations"]);
    const bool timed = w.deadline_ns != 0;
    const std::uint64_t limit =
        timed && generations == 1 ? ~std::uint64_t{0} : objects * static_cast<std::uint64_t>(r.with["rounds"]);
    random numbers = w.numbers;

    if (s.generation == 0 && r.with.word("start") == "own") {
      for (std::size_t i = 0; i < objects; ++i) put(s, s.slots[i]);
    }
    std::uint64_t done = 0;
    for (; done < limit; ++done) {
      if (timed && done % 1024 == 0 && now_ns() >= w.deadline_ns) {
        s.last = true;
        break;
      }
      slot& at = s.slots[numbers.below(objects)];
      take(s, at);
      at.size = static_cast<std::uint32_t>(numbers.between(min, max));
      at.by = s.generation;
      at.key = w.next_key();
      at.block = w.allocate(at.size, at.key);
    }
    w.operations += 2 * done;
    w.numbers = numbers;
    if (s.last || (!timed && s.generation + 1 == generations)) {
      for (std::size_t i = 0; i < objects; ++i) take(s, s.slots[i]);
      sem_post(&s.over);
      return;
    }
    ++s.generation;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_t successor;
    const int error = pthread_create(&successor, &detached, enter, &s);
    pthread_attr_destroy(&detached);
    if (error != 0) r.fail("cannot start a successor thread: error %d", error);
  }

  static void* enter(void* s) {
    live(*static_cast<slice*>(s));
    return nullptr;
  }
};

}  // namespace polder::bench
