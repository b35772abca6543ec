#pragma once
// threadtest — Berger and others, "Hoard", 2000; scalloc sec. 7.2 and 7.7; Michael sec. 4.1; LRMalloc sec. 4.
#include "core/run.hpp"

namespace polder::bench {

struct threadtest {
  static constexpr parameter parameters[] = {
      {"size", 64, 1, 1 << 20, "bytes", "size of every block"},
      {"blocks", 100'000, 1, 100'000'000, "blocks", "allocated and freed in a round"},
      {"each", 0, 0, 1, "", "whether `blocks` is for all threads together, or for each of them", "together|thread"},
      {"rounds", 240, 1, 1'000'000, "rounds", "per thread"},
      {"work", 0, 0, 1'000'000, "steps", "local work after each malloc and before each free"},
      {"order", 0, 0, 2, "", "the order of the frees, relative to that of the mallocs",
       "forward|backward|shuffled"},
  };
  static constexpr preset presets[] = {
      {"scalloc-fig6", "scalloc, figures 6 and 14: 10^4 rounds of 10^5/t blocks of 64 bytes",
       "size=64 blocks=100000 each=together rounds=10000"},
      {"scalloc-fig6-scaled", "scalloc, figure 6, shorter", "size=64 blocks=100000 each=together rounds=240"},
      {"scalloc-fig13", "scalloc, figure 13: as figure 6 with 256 bytes",
       "size=256 blocks=100000 each=together rounds=10000"},
      {"scalloc-fig13-scaled", "scalloc, figure 13, shorter", "size=256 blocks=100000 each=together rounds=60"},
      {"michael-fig8b", "Michael, figure 8b: 100 times 100,000 blocks of 8 bytes, in order",
       "size=8 blocks=100000 each=thread rounds=100"},
      {"lrmalloc-fig2b", "LRMalloc, figure 2b: 100 batches of 100,000, of 16 bytes as in figure 2a",
       "size=16 blocks=100000 each=thread rounds=100"},
      {"work", "64 bytes, with local work between the calls, an option of the original",
       "size=64 rounds=100 work=100"},
      {"shuffled", "as figure 6, freed in an order drawn once",
       "size=64 blocks=100000 each=together rounds=50 order=shuffled"},
      {"quick", "scalloc, figure 6, much shorter", "size=64 blocks=100000 each=together rounds=120"},
      {"smoke", "for tests", "blocks=2000 rounds=3 work=3"},
      {"smoke-shuffled", "for tests", "blocks=2000 rounds=3 order=shuffled"},
  };
  static constexpr workload_info info{
      .name = "threadtest",
      .title = "Threadtest",
      .paper = "Berger 2000; scalloc fig. 6, 13, 14; Michael fig. 8b; LRMalloc fig. 2b",
      .what =
          "Each thread allocates a batch of equal blocks and frees it again, round after round; nothing is shared.",
      .shows =
          "Speed of purely local batches, larger than any thread cache: how the cache is refilled and drained.",
      .parameters = parameters,
      .presets = presets,
  };

  static void execute(run& r) {
    const std::size_t size = r.with.size("size");
    const std::size_t blocks = r.with.word("each") == "thread"
                                   ? r.with.size("blocks")
                                   : std::max<std::size_t>(1, r.with.size("blocks") / r.threads);
    const auto rounds = r.with["rounds"];
    const auto work = r.with["work"];
    const bool backward = r.with.word("order") == "backward";
    const bool shuffled = r.with.word("order") == "shuffled";
    mapped_array<void*> table(blocks * r.threads);
    mapped_array<std::uint32_t> turns(shuffled ? blocks * r.threads : 0);

    r.measure([&](worker& w) {
      void** mine = table.begin() + w.id * blocks;
      std::uint32_t* const turn = turns.begin() + (shuffled ? w.id * blocks : 0);
      if (shuffled) shuffle(turn, blocks, w.numbers);
      for (std::int64_t round = 0; round < rounds; ++round) {
        const std::uint64_t first = w.serial;
        w.serial += blocks;
        for (std::size_t i = 0; i < blocks; ++i) {
          mine[i] = w.allocate(size, block_key(w.salt, first + i));
          labour(work);
        }
        for (std::size_t n = 0; n < blocks; ++n) {
          const std::size_t i = shuffled ? turn[n] : backward ? blocks - 1 - n : n;
          labour(work);
          w.release(mine[i], size, block_key(w.salt, first + i));
        }
      }
      w.operations += 2 * blocks * static_cast<std::uint64_t>(rounds);
    });
  }

  // The numbers below n, in an order drawn at random.
  static void shuffle(std::uint32_t* to, std::size_t n, random& numbers) {
    for (std::size_t i = 0; i != n; ++i) {
      const std::size_t k = numbers.below(i + 1);
      to[i] = to[k];
      to[k] = static_cast<std::uint32_t>(i);
    }
  }

  static void labour(std::int64_t steps) {
    for (std::int64_t i = 0; i < steps; ++i) asm volatile("" : : "r"(i));
  }
};

}  // namespace polder::bench
