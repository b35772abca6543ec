#pragma once
// growth_then_idle — memory grows, is freed, and then nobody calls the allocator: what it still keeps is lost to everybody
// else on the machine.
#include "core/meeting.hpp"
#include "core/run.hpp"
#include "core/usual_sizes.hpp"

namespace polder::bench {

struct growth_then_idle {
  static constexpr parameter parameters[] = {
      {"blocks", 400'000, 1, 100'000'000, "blocks",
       "of usual sizes, by all threads together: about 500 bytes each"},
      {"cycles", 4, 1, 1'000'000, "times", "of growth and frees"},
      {"keep", 0, 0, 100, "%", "of the blocks, spread at random, are kept until the end"},
      {"idle", 1200, 0, 86'400'000, "ms",
       "in which everybody sleeps after the last cycle, twice; not in `seconds`"},
  };
  static constexpr preset presets[] = {
      {"remnants", "two blocks in a hundred stay, all over the memory", "keep=2"},
      {"patient", "long enough for every decay there is", "cycles=1 idle=12000"},
      {"quick", "shorter", "blocks=200000 cycles=4 idle=100"},
      {"smoke", "for tests", "blocks=3000 cycles=2 keep=5 idle=5"},
  };
  static constexpr workload_info info{
      .name = "growth_then_idle",
      .title = "Growth, then idleness",
      .paper = "the field since (idle servers)",
      .what = "Threads grow a heap and free it, some times over; then all of them sleep.",
      .shows =
          "What stays resident of freed memory: at once, after idleness, and after a little work, once and twice.",
      .parameters = parameters,
      .presets = presets,
      .group = "field",
  };

  struct held {
    void* block = nullptr;
    std::uint32_t size = 0;
    std::uint64_t key = 0;
  };

  static void execute(run& r) {
    const std::size_t blocks = std::max<std::size_t>(1, r.with.size("blocks") / r.threads);
    const auto cycles = r.with["cycles"];
    const auto keep = static_cast<std::uint64_t>(r.with["keep"]);
    const auto idle_ms = r.with["idle"];
    mapped_array<held> table(blocks * r.threads);
    meeting all(r.threads);

    r.measure([&](worker& w) {
      held* mine = table.begin() + w.id * blocks;
      const bool first = w.id == 0;
      const auto release = [&](held& h) {
        w.release(h.block, h.size, h.key);
        h.block = nullptr;
      };
      const auto tell_rss = [&](std::string_view name) {
        r.tell(name, static_cast<double>(rss_bytes() - r.base_rss()));
      };

      for (std::int64_t cycle = 1; cycle <= cycles; ++cycle) {
        for (std::size_t i = 0; i < blocks; ++i) {
          held& h = mine[i];
          if (h.block != nullptr) continue;
          h.size = usual_size(w.numbers);
          h.key = w.next_key();
          h.block = w.allocate(h.size, h.key);
          fill(h.block, h.size, h.key, 2048);
          ++w.operations;
        }
        all.wait(first && cycle == cycles, [&] {
          r.tell("live_grown", static_cast<double>(r.live()));
          tell_rss("rss_grown");
        });
        for (std::size_t i = 0; i < blocks; ++i) {
          held& h = mine[i];
          if (w.numbers.percent(keep)) continue;
          if (!filled(h.block, h.size, h.key, 2048))
            r.fail("block %p of %u bytes was overwritten inside", h.block, h.size);
          release(h);
          ++w.operations;
        }
        all.wait(first && cycle == cycles, [&] {
          r.tell("live_freed", static_cast<double>(r.live()));
          tell_rss("rss_freed");
        });
      }
      w.stop_clock();

      const timespec pause{idle_ms / 1000, idle_ms % 1000 * 1'000'000};
      nanosleep(&pause, nullptr);
      all.wait(first, [&] {
        tell_rss("rss_idle");
        work_a_little(w);
        tell_rss("rss_woken");
      });
      nanosleep(&pause, nullptr);
      all.wait(first, [&] {
        work_a_little(w);
        tell_rss("rss_woken_again");
      });
      for (std::size_t i = 0; i < blocks; ++i) {
        if (mine[i].block != nullptr) release(mine[i]);
      }
    });
  }

  // Enough to pass through slow paths, where memory is given back by allocators that have no thread of their own.
  static void work_a_little(worker& w) {
    constexpr std::size_t some = 1000;
    mapped_array<held> table(some);
    for (unsigned times = 0; times < 4; ++times) {
      for (held& h : table) {
        h.size = usual_size(w.numbers);
        h.key = w.next_key();
        h.block = w.allocate(h.size, h.key);
      }
      for (held& h : table) w.release(h.block, h.size, h.key);
    }
  }
};

}  // namespace polder::bench
