// What the line says beside times: latency buckets that partition the numbers and count every call when all are timed, live
// bytes that return to nothing, figures of single workloads, and nothing of it all where it was not asked for.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "child.hpp"
#include "core/log_linear.hpp"
#include "core/measure.hpp"
#include "line.hpp"
#include "workload/all.hpp"

namespace {

using namespace polder::bench;
using test::number;
unsigned wrong = 0;

void require(bool good, const std::string& what, const std::string& line = {}) {
  if (good) return;
  ++wrong;
  std::printf("%s\n%s\n", what.c_str(), line.c_str());
}

void buckets_partition() {
  for (std::size_t i = 0; i + 1 < log_linear::size; ++i) {
    const auto low = log_linear::lowest(i);
    const auto high = log_linear::highest(i);
    const bool good = low <= high && log_linear::index(low) == i && log_linear::index(high) == i &&
                      log_linear::lowest(i + 1) == high + 1 && (high - low) * log_linear::per_octave <= low;
    require(good, "bucket " + std::to_string(i) + " is not where its numbers go");
  }
  require(log_linear::lowest(0) == 0, "the first bucket");
  require(log_linear::index(~std::uint64_t{0}) == log_linear::size - 1, "the last bucket takes what is beyond");
}

// Of one call: its count, which the sum of its buckets must be, and its worst, which must lie in the last bucket.
long long calls(const std::string& line, const std::string& call) {
  const auto latency = line.find("\"latency\":{");
  const auto at = line.find("\"" + call + "\":{", latency);
  if (latency == std::string::npos || at == std::string::npos) return 0;
  const auto count = number(line, "count", at);
  const auto worst = number(line, "worst_ns", at);
  long long sum = 0;
  test::bucket last{-1, -1, 0};
  for (const auto& b : test::buckets(line, at)) {
    require(b.low > last.high, call + ": buckets overlap or are not in order", line);
    sum += b.count;
    last = b;
  }
  require(worst >= last.low && worst <= last.high, call + ": the worst is not in the last bucket", line);
  require(sum == count, call + ": the buckets hold another number than they say", line);
  return count;
}

// The bytes of each point in "memory_live":[[seconds, bytes], …].
std::vector<long long> live_points(const std::string& line) {
  std::vector<long long> all;
  const auto begin = line.find("\"memory_live\":[[");
  if (begin == std::string::npos) return all;
  const char* text = line.c_str() + begin + 14;
  while (*text == '[' || *text == ',') {
    char* next = nullptr;
    std::strtod(text + 1 + (text[1] == '['), &next);
    all.push_back(std::strtoll(next + 1, &next, 10));
    text = next + 1;
  }
  return all;
}

double real(const std::string& line, const std::string& key) {
  const auto at = line.find("\"" + key + "\":");
  return at == std::string::npos ? -1 : std::atof(line.c_str() + at + key.size() + 3);
}

// When the first point of a series was taken; -1: there is none.
double first_look(const std::string& line, const std::string& series) {
  const std::string begin = "\"" + series + "\":[[";
  const auto at = line.find(begin);
  return at == std::string::npos ? -1 : std::atof(line.c_str() + at + begin.size());
}

// When the last point of "memory_live" was taken.
double last_look(const std::string& line) {
  const auto begin = line.find("\"memory_live\":[[");
  if (begin == std::string::npos) return -1;
  return std::atof(line.c_str() + line.rfind('[', line.find("]]", begin)) + 1);
}

}  // namespace

int main() {
  buckets_partition();

  for_each(all_workloads{}, [&]<class W>() {
    const std::string name(W::info.name);
    const auto run = [&](std::vector<std::string> more) {
      std::vector<std::string> words{"run", name, "--preset", "smoke", "--threads", "2"};
      words.insert(words.end(), more.begin(), more.end());
      const auto got = test::call(POLDER_BENCH, words);
      require(got.status == 0 && got.lines() == 1, name + " failed", got.out + got.err);
      return got.out;
    };
    const auto every = run({"--latency=all", "--live"});
    const auto allocations = number(every, "allocations");
    const auto frees = number(every, "frees");
    // A structure tells its nodes, and not what else the library beneath it asks for.
    const bool more = W::info.of_structures();
    const auto freed = calls(every, "free");
    require(frees > 0 && (freed == frees || (more && freed > frees)), name + ": not every free was timed", every);
    const auto fresh = calls(every, "malloc") + calls(every, "calloc");
    require(fresh == allocations || (more && fresh > allocations) ||
                (fresh < allocations && fresh + calls(every, "realloc") >= allocations),
            name + ": not every allocation was timed", every);
    if (W::info.name == mixed::info.name)
      require(number(every, "operations") == allocations + frees + calls(every, "realloc"),
              name + ": an operation is not counted", every);
    require(number(every, "latency_every") == 1 && number(every, "latency_overhead_ns") >= 0, name, every);
    require(number(every, "live_peak") >= 0 && first_look(every, "memory_live") >= 0 &&
                first_look(every, "memory_rss") >= 0,
            name + ": no live bytes", every);

    const auto without = run({});
    require(without.find("\"latency\":null") != std::string::npos &&
                without.find("\"live_peak\":null,\"memory_live\":null") != std::string::npos,
            name + ": measured unasked", without);
  });

  const auto sampled =
      test::call(POLDER_BENCH, {"run", "threadtest", "--preset", "smoke", "--param", "rounds=50", "--latency=10"});
  const auto tenth = number(sampled.out, "frees") / 10;
  const auto taken = calls(sampled.out, "free");
  require(taken > tenth / 2 && taken < tenth * 2, "one call of ten is timed", sampled.out);

  // Live bytes of a known amount for a known time: everything is held while the last phase sleeps.
  const auto held = test::call(POLDER_BENCH, {"run", "growth_then_idle", "--param", "blocks=20000", "--param",
                                              "cycles=1", "--param", "keep=100", "--param", "idle=1000", "--live"});
  const auto grown = number(held.out, "live_grown");
  require(held.status == 0 && grown > 20000 && number(held.out, "live_freed") == grown, "all is kept", held.out);
  require(number(held.out, "live_peak") > grown / 10 * 9, "a look sees what is held", held.out);

  // What is freed when the clock has stopped is no operation: all that lived at the end.
  const auto drift = test::call(POLDER_BENCH, {"run", "fragmentation", "--preset", "smoke"});
  require(drift.status == 0 && number(drift.out, "live_end") > 0 &&
              number(drift.out, "operations") < number(drift.out, "allocations") + number(drift.out, "frees"),
          "fragmentation counts what it does not time", drift.out);

  // Two hundred threads that sleep and hold nothing, and one that holds a block: in most points there is nothing else.
  const auto idle = test::call(POLDER_BENCH, {"run", "idle_threads", "--live", "--param",
                                              "idle=200 blocks=20 hold=0 slots=1 replacements=3000000"});
  std::vector<long long> points = live_points(idle.out);
  std::sort(points.begin(), points.end());
  require(idle.status == 0 && !points.empty() && points[points.size() / 2] < 20'000, "sleepers hold nothing",
          idle.out);

  // Looks are counted from `began`, whatever is done before the clock starts: else the last would be yet to come.
  const auto filled =
      test::call(POLDER_BENCH, {"run", "set", "--preset", "smoke", "--live", "--param", "keys=1000000"});
  const double now = static_cast<double>(now_ns()) / 1e9;
  const double last = real(filled.out, "began") + last_look(filled.out);
  require(filled.status == 0 && last > 0 && last < now + 1e-3, "the last look comes after the end", filled.out);

  // A short run's time is told as finely as the clock does: in microseconds this one's would be nothing, or one.
  const auto brief = test::call(POLDER_BENCH, {"run", "linux_scalability", "--param", "count=1"});
  const auto seconds = brief.out.find("\"seconds\":");
  require(brief.status == 0 && brief.out.find(',', seconds) - brief.out.find('.', seconds) == 10,
          "seconds are not told to the nanosecond", brief.out);

  // Who looks in vain has no more operations for it: a search last in, first out of a town's streets takes longer ways first.
  const auto search = [](const std::string& structure) {
    return test::call(POLDER_BENCH,
                      {"run", "graph_search", "--param", "search=shortest_path shape=grid vertices=900", "--param",
                       "structure=" + structure});
  };
  const auto queue = search("ms-queue");
  const auto stack = search("treiber-stack");
  require(queue.status == 0 && stack.status == 0 && number(queue.out, "operations", 0) == 900 &&
              number(stack.out, "operations", 0) == 900 &&
              number(stack.out, "looks") > 2 * number(queue.out, "looks") && number(queue.out, "looks") >= 900,
          "looks in vain are operations", queue.out + stack.out);

  // Two million edges are drawn and sorted before a search that needs next to nothing.
  const auto searched =
      test::call(POLDER_BENCH, {"run", "graph_search", "--param", "vertices=64 edges=2000000 search=bfs"});
  const auto above = number(searched.out, "peak_rss_kb") - number(searched.out, "base_rss_kb");
  require(searched.status == 0 && (above < 8 << 10 || !begin_peak()), "the peak is that of the input",
          searched.out);

  std::printf("%u wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
