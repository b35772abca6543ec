#pragma once
// thread_churn — short threads: each allocates, frees most of it, leaves the rest to a later thread and ends. Larson's
// threads live long and end seldom; here the beginning and the end are what is measured.
#include <pthread.h>

#include "core/held_block.hpp"
#include "core/run.hpp"
#include "core/usual_sizes.hpp"

namespace polder::bench {

struct thread_churn {
  static constexpr parameter parameters[] = {
      {"lives", 20'000, 1, 100'000'000, "threads", "started by all workers together"},
      {"abreast", 4, 1, 64, "threads", "of one worker live at a time"},
      {"blocks", 200, 1, 1'000'000, "blocks", "allocated in a life"},
      {"left", 25, 0, 100, "%", "of them are left to a thread of the next wave, which frees them"},
  };
  static constexpr preset presets[] = {
      {"tiny", "ten blocks a life: little but the thread itself", "blocks=10"},
      {"heirs", "everything is freed by an heir", "left=100"},
      {"quick", "shorter", "lives=3000"},
      {"smoke", "for tests", "lives=30 abreast=3 blocks=150"},
  };
  static constexpr workload_info info{
      .name = "thread_churn",
      .title = "Thread churn",
      .paper = "the field since (requirement: threads come and go)",
      .what = "Short threads allocate, free most of it, leave some blocks to a thread of the next wave, and end.",
      .shows =
          "What a thread's first allocation and its end cost, and whether a dead thread's memory is used again.",
      .parameters = parameters,
      .presets = presets,
      .most_threads = 64,
      .group = "field",
  };

  using object = held_block;

  // One place among those abreast, and the thread that has it now.
  struct place {
    worker* counts = nullptr;
    object* own = nullptr;
    object* left_to_it = nullptr;
    std::size_t blocks = 0;
    std::size_t leaves = 0;
    pthread_t thread{};
  };

  static void* live(void* p) {
    place& here = *static_cast<place*>(p);
    worker& w = *here.counts;
    w.take_over();
    allocate(w, here.own[0]);
    guard_block guard(
        w);  // not before: a thread's first call is what this is about, and is to be counted and timed
    for (std::size_t i = 1; i < here.blocks; ++i) allocate(w, here.own[i]);
    free_left(w, here.left_to_it, here.leaves);
    for (std::size_t i = here.leaves; i < here.blocks; ++i) {
      w.release(here.own[i].block, here.own[i].size, here.own[i].key);
    }
    w.operations += 2 * here.blocks;
    guard.check_and_free(w);
    w.tell_live();
    return nullptr;
  }

  static void allocate(worker& w, object& o) {
    o.size = usual_size(w.numbers);
    o.key = w.next_key();
    o.block = w.allocate(o.size, o.key);
  }

  static void free_left(worker& w, object* left, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (left[i].block == nullptr) continue;
      w.release(left[i].block, left[i].size, left[i].key);
      ++w.remote_frees;
      left[i].block = nullptr;
    }
  }

  static void execute(run& r) {
    const auto abreast = static_cast<unsigned>(r.with["abreast"]);
    const std::size_t blocks = r.with.size("blocks");
    const std::size_t leaves = blocks * r.with.size("left") / 100;
    const std::size_t waves = std::max<std::size_t>(1, r.with.size("lives") / r.threads / abreast);
    const std::size_t places = std::size_t{r.threads} * abreast;
    // Each place has two tables: what its thread has, and what its forerunner left, which is the neighbour's of before.
    mapped_array<object> objects(2 * places * blocks);
    mapped_array<place> all(places);
    r.employ(static_cast<unsigned>(places));

    r.measure([&](worker& w) {
      place* mine = all.begin() + std::size_t{w.id} * abreast;
      object* tables = objects.begin() + 2 * blocks * abreast * w.id;
      const auto table = [&](std::size_t wave, unsigned n) { return tables + (wave % 2 * abreast + n) * blocks; };
      for (std::size_t wave = 0; wave < waves; ++wave) {
        for (unsigned n = 0; n < abreast; ++n) {
          mine[n].counts = &r.employed(w.id * abreast + n);
          mine[n].own = table(wave, n);
          mine[n].left_to_it = table(wave + 1, (n + 1) % abreast);
          mine[n].blocks = blocks;
          mine[n].leaves = leaves;
          const int error = pthread_create(&mine[n].thread, nullptr, live, &mine[n]);
          if (error != 0) r.fail("cannot start a thread: error %d", error);
        }
        for (unsigned n = 0; n < abreast; ++n) pthread_join(mine[n].thread, nullptr);
      }
      for (unsigned n = 0; n < abreast; ++n) free_left(w, table(waves - 1, n), leaves);
    });
    r.tell("lives", static_cast<double>(waves * places));
  }
};

}  // namespace polder::bench
