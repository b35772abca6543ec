#pragma once
// shbench — MicroQuill's test of SmartHeap, as Berger 2000 and scalloc sec. 7.2 describe it: blocks of random size are
// allocated and freed in rounds, and how many rounds a block lives is random too. Written from these descriptions;
// deviation: they tell neither how many blocks a round has nor how long a block lives, so both are parameters.
#include "core/run.hpp"

namespace polder::bench {

struct shbench {
  static constexpr parameter parameters[] = {
      {"min", 1, 1, 1 << 20, "bytes", "smallest block"},
      {"max", 8, 1, 1 << 20, "bytes", "greatest block"},
      {"rounds", 1'000'000, 1, 1'000'000'000, "rounds", "of each thread"},
      {"blocks", 10, 1, 100'000, "blocks", "allocated in a round"},
      {"survive", 50, 0, 100, "%", "of the blocks live on when their round is over"},
      {"life", 100, 1, 100'000, "rounds", "that such a block lives at most; each number up to it is as likely"},
  };
  static constexpr preset presets[] = {
      {"scalloc-fig7", "scalloc, figure 7: 10^6 rounds of 1 to 8 bytes", "min=1 max=8 rounds=1000000"},
      {"wide", "sizes of three orders of magnitude", "min=1 max=1000"},
      {"quick", "scalloc, figure 7, one fifth", "min=1 max=8 rounds=200000"},
      {"smoke", "for tests", "max=200 rounds=200 life=20"},
  };
  static constexpr workload_info info{
      .name = "shbench",
      .title = "Shbench",
      .paper = "MicroQuill; Berger 2000; scalloc fig. 7",
      .what =
          "Each thread allocates some blocks of random size in each round; half die with it, half live on for a "
          "random number of rounds.",
      .shows =
          "Small local blocks whose lives overlap: spans empty irregularly, so that reuse before they are empty "
          "decides about memory.",
      .parameters = parameters,
      .presets = presets,
  };

  // Held blocks lie in one list for each round to come, the latest first.
  struct entry {
    void* block = nullptr;
    std::uint64_t key = 0;
    std::uint32_t size = 0;
    entry* next = nullptr;
  };

  static void execute(run& r) {
    const std::size_t min = r.with.size("min");
    const std::size_t max = r.with.size("max");
    const std::size_t blocks = r.with.size("blocks");
    const std::size_t life = r.with.size("life");
    const auto rounds = static_cast<std::uint64_t>(r.with["rounds"]);
    const auto survive = static_cast<std::uint64_t>(r.with["survive"]);
    if (min > max) r.reject("'min' is above 'max'");
    const std::size_t dues = life + 1;       // the rounds in which a block of today can die
    const std::size_t most = blocks * dues;  // can be alive at once
    mapped_array<entry> entries(most * r.threads);
    mapped_array<entry*> due(dues * r.threads);

    r.measure([&](worker& w) {
      entry* mine = entries.begin() + w.id * most;
      entry** lists = due.begin() + w.id * dues;
      entry* unused = nullptr;
      for (std::size_t i = 0; i < most; ++i) {
        mine[i].next = unused;
        unused = &mine[i];
      }
      const auto free_all = [&](entry*& list) {
        while (list != nullptr) {
          entry* e = list;
          list = e->next;
          w.release(e->block, e->size, e->key);
          e->next = unused;
          unused = e;
        }
      };
      for (std::uint64_t round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < blocks; ++i) {
          entry* e = unused;
          unused = e->next;
          e->size = static_cast<std::uint32_t>(w.numbers.between(min, max));
          e->key = w.next_key();
          e->block = w.allocate(e->size, e->key);
          const std::uint64_t lives = w.numbers.percent(survive) ? w.numbers.between(1, life) : 0;
          entry*& list = lists[(round + lives) % dues];
          e->next = list;
          list = e;
        }
        free_all(lists[round % dues]);
      }
      for (std::size_t i = 0; i < dues; ++i) free_all(lists[i]);
      w.operations += 2 * rounds * blocks;
    });
  }
};

}  // namespace polder::bench
