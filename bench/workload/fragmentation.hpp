#pragma once
// fragmentation — the long run: blocks of short, middle and long lives mixed, while the sizes that are asked for drift from
// small to large and back. What the small blocks of long life leave between them has to serve large ones.
#include "core/meeting.hpp"
#include "core/run.hpp"

namespace polder::bench {

struct fragmentation {
  static constexpr parameter parameters[] = {
      {"live", 32 << 20, 1 << 16, 1LL << 40, "bytes", "held by all threads together, all the time"},
      {"smallest", 32, 1, 1 << 20, "bytes", "in the first phase, sizes are from here to four times this"},
      {"octaves", 8, 1, 16, "phases", "in which they double, before they halve again as often"},
      {"churn", 2, 1, 1000, "times", "the live bytes are allocated in each phase"},
      {"pinned", 5, 0, 50, "permille",
       "of the blocks live for a whole drift, up and down, a tenth of the live bytes at most"},
      {"drifts", 1, 1, 1'000'000, "times", "up and down"},
      {"seconds", 0, 0, 604'800, "s", "0: the fixed number of drifts; else drifts follow until this is over"},
  };
  static constexpr preset presets[] = {
      {"minutes", "two minutes", "seconds=120 live=128M"},
      {"hour", "an hour", "seconds=3600 live=256M"},
      {"quick", "shorter", "live=6M drifts=4"},
      {"smoke", "for tests", "live=256K octaves=4 pinned=20"},
  };
  static constexpr workload_info info{
      .name = "fragmentation",
      .title = "Fragmentation",
      .paper = "Johnstone and Wilson 1998, and the field since",
      .what = "Threads hold a constant volume of blocks of mixed lives while the sizes drift from phase to phase.",
      .shows = "How far resident memory grows above what lives, and whether it goes on growing.",
      .parameters = parameters,
      .presets = presets,
      .group = "field",
  };

  struct object {
    void* block;
    std::uint64_t key;
    std::uint32_t size;
  };

  // The blocks of one thread: a bag, newest last.
  struct bag {
    object* objects;
    std::size_t count = 0;
    std::int64_t bytes = 0;

    void put(const object& o) {
      objects[count++] = o;
      bytes += o.size;
    }
    object take(std::size_t at) {
      const object o = objects[at];
      objects[at] = objects[--count];
      bytes -= o.size;
      return o;
    }
  };

  static void execute(run& r) {
    const std::size_t smallest = r.with.size("smallest");
    const auto octaves = static_cast<unsigned>(r.with["octaves"]);
    const auto live = r.with["live"] / r.threads;
    const auto pinned_limit = live / 10;
    const auto pinned_permille = static_cast<std::uint64_t>(r.with["pinned"]);
    const std::int64_t seconds = r.with["seconds"];
    const auto greatest = static_cast<std::int64_t>(smallest << (octaves + 1));
    if (greatest > (1LL << 31)) r.reject("'smallest' is too great for that many octaves");
    if (live < 2 * greatest) r.reject("'live' is below two of the greatest blocks for each thread");
    const std::size_t most = static_cast<std::size_t>(live) / smallest + 2;
    const std::size_t most_pinned = most / 10 + 1;
    mapped_array<object> objects((most + most_pinned) * r.threads);
    meeting all(r.threads);
    bool more = true;
    double worst = 0;
    double first = 0;
    double last = 0;

    r.measure([&](worker& w) {
      bag loose{objects.begin() + (most + most_pinned) * w.id};
      bag pinned{loose.objects + most};
      const auto release = [&](const object& o) {
        w.release(o.block, o.size, o.key);
        ++w.operations;
      };
      const auto phase = [&](std::size_t least) {
        for (std::int64_t bytes = 0, enough = live * r.with["churn"]; bytes < enough;) {
          object o;
          o.size = static_cast<std::uint32_t>(w.numbers.between(least, 4 * least));
          o.key = w.next_key();
          o.block = w.allocate(o.size, o.key);
          ++w.operations;
          bytes += o.size;
          if (pinned.bytes + o.size <= pinned_limit && w.numbers.below(1000) < pinned_permille) pinned.put(o);
          else loose.put(o);
          // Two of three die among the newest sixteenth, the others anywhere.
          while (loose.bytes + pinned.bytes > live) {
            const std::size_t young = loose.count - loose.count / 16;
            const bool old = young == loose.count || w.numbers.below(3) == 0;
            release(loose.take(old ? w.numbers.below(loose.count) : w.numbers.between(young, loose.count - 1)));
          }
        }
        all.wait(w.id == 0, [&] {
          last = static_cast<double>(rss_bytes() - r.base_rss()) / static_cast<double>(r.live());
          worst = std::max(worst, last);
          if (first == 0) first = last;
        });
      };

      for (std::int64_t drift = 1; more; ++drift) {
        for (unsigned n = 0; n < octaves; ++n) phase(smallest << n);
        for (unsigned n = octaves; n-- > 0;) phase(smallest << n);
        while (pinned.count != 0) release(pinned.take(pinned.count - 1));
        all.wait(w.id == 0, [&] {
          more = seconds == 0 ? drift < r.with["drifts"] : now_ns() - w.begin_ns < seconds * 1'000'000'000;
          if (more) return;
          r.tell("live_end", static_cast<double>(r.live()));
          r.tell("rss_end", static_cast<double>(rss_bytes() - r.base_rss()));
          r.tell("drifts", static_cast<double>(drift));
        });
      }
      w.stop_clock();
      while (loose.count != 0) {
        const object o = loose.take(loose.count - 1);
        w.release(o.block, o.size, o.key);
      }
    });
    r.tell("rss_to_live_first_phase", first);
    r.tell("rss_to_live_last_phase", last);
    r.tell("rss_to_live_worst", worst);
  }
};

}  // namespace polder::bench
