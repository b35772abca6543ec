#pragma once
// idle_threads — a thousand threads that have allocated and freed once and now sleep, each with whatever the allocator keeps
// for a thread, while a few others work.
#include <pthread.h>

#include "core/held_block.hpp"
#include "core/meeting.hpp"
#include "core/run.hpp"
#include "core/usual_sizes.hpp"

namespace polder::bench {

struct idle_threads {
  static constexpr parameter parameters[] = {
      {"idle", 1000, 1, 20'000, "threads", "that sleep"},
      {"blocks", 100, 1, 100'000, "blocks", "of usual sizes that each of them allocates before"},
      {"hold", 0, 0, 100, "%", "of these it holds while it sleeps; the others it frees"},
      {"slots", 1000, 1, 10'000'000, "blocks", "held by each worker"},
      {"replacements", 2'000'000, 1, 1'000'000'000, "blocks", "by each worker meanwhile"},
  };
  static constexpr preset presets[] = {
      {"holders", "one block in ten is held", "hold=10"},
      {"quick", "shorter", "idle=300 replacements=600000"},
      {"smoke", "for tests", "idle=10 hold=20 slots=50 replacements=2000"},
  };
  static constexpr workload_info info{
      .name = "idle_threads",
      .title = "Idle threads",
      .paper = "the field since (thread pools); requirement: memory of idle threads",
      .what = "Many threads allocate, free and sleep; the workers replace blocks at random among them.",
      .shows =
          "What an idle thread's caches cost in resident memory. The time holds the sleepers' begin, calls and "
          "end.",
      .parameters = parameters,
      .presets = presets,
      .group = "field",
  };

  using object = held_block;

  struct sleeper {
    worker* counts = nullptr;
    meeting* with_all = nullptr;
    object* objects = nullptr;
    std::size_t blocks = 0;
    std::size_t holds = 0;
    pthread_t thread{};
  };

  static void* sleep_long(void* s) {
    sleeper& self = *static_cast<sleeper*>(s);
    worker& w = *self.counts;
    w.take_over();
    self.with_all->wait();  // all are there and none has allocated
    self.with_all->wait();
    allocate(w, self.objects[0]);
    guard_block guard(w);
    for (std::size_t i = 1; i < self.blocks; ++i) allocate(w, self.objects[i]);
    for (std::size_t i = self.holds; i < self.blocks; ++i) release(w, self.objects[i]);
    guard.check_and_free(w);  // or it would be in what an idle thread costs
    w.tell_live();
    self.with_all->wait();  // asleep
    self.with_all->wait();  // woken
    for (std::size_t i = 0; i < self.holds; ++i) release(w, self.objects[i]);
    return nullptr;
  }

  static void allocate(worker& w, object& o) {
    o.size = usual_size(w.numbers);
    o.key = w.next_key();
    o.block = w.allocate(o.size, o.key);
    ++w.operations;
  }

  static void release(worker& w, object& o) {
    w.release(o.block, o.size, o.key);
    o.block = nullptr;
    ++w.operations;
  }

  static void execute(run& r) {
    const auto idle = static_cast<unsigned>(r.with["idle"]);
    const std::size_t blocks = r.with.size("blocks");
    const std::size_t holds = blocks * r.with.size("hold") / 100;
    const std::size_t slots = r.with.size("slots");
    const auto replacements = r.with["replacements"];
    mapped_array<object> objects(blocks * idle + slots * r.threads);
    mapped_array<sleeper> sleepers(idle);
    meeting workers(r.threads);
    meeting with_sleepers(idle + 1);  // and the first worker
    r.employ(idle);

    r.measure([&](worker& w) {
      const bool first = w.id == 0;
      if (first) start(r, sleepers, with_sleepers, objects.begin(), blocks, holds);
      workers.wait();
      object* mine = objects.begin() + blocks * idle + slots * w.id;
      for (std::int64_t i = 0; i < replacements; ++i) {
        object& o = mine[w.numbers.below(slots)];
        if (o.block != nullptr) release(w, o);
        allocate(w, o);
      }
      for (std::size_t i = 0; i < slots; ++i) {
        if (mine[i].block != nullptr) release(w, mine[i]);
      }
      workers.wait();
      if (!first) return;
      r.tell("rss_working", static_cast<double>(rss_bytes() - r.base_rss()));
      with_sleepers.wait();
      for (sleeper& s : sleepers) pthread_join(s.thread, nullptr);
      r.tell("rss_after_exit", static_cast<double>(rss_bytes() - r.base_rss()));
    });
  }

  // From here on everybody sleeps.
  static void start(run& r, mapped_array<sleeper>& sleepers, meeting& with_sleepers, object* objects,
                    std::size_t blocks, std::size_t holds) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    for (unsigned i = 0; i < sleepers.size(); ++i) {
      sleeper& s = sleepers[i];
      s.counts = &r.employed(i);
      s.with_all = &with_sleepers;
      s.objects = objects + blocks * i;
      s.blocks = blocks;
      s.holds = holds;
      const int error = pthread_create(&s.thread, &small, sleep_long, &s);
      if (error != 0) r.fail("cannot start the idle thread %u: error %d", i, error);
    }
    pthread_attr_destroy(&small);

    with_sleepers.wait();
    const std::int64_t bare = rss_bytes();
    with_sleepers.wait();
    with_sleepers.wait();
    const std::int64_t asleep = rss_bytes();
    std::int64_t held = 0;
    for (const sleeper& s : sleepers) held += s.counts->live;
    const auto count = static_cast<double>(sleepers.size());
    r.tell("rss_per_bare_thread", static_cast<double>(bare - r.base_rss()) / count);
    r.tell("rss_per_idle_thread", static_cast<double>(asleep - bare) / count);
    r.tell("live_per_idle_thread", static_cast<double>(held) / count);
  }
};

}  // namespace polder::bench
