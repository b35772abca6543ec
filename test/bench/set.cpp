// What the workload `set` tells and can be asked for: times of operations and of frees, garbage, epochs, the heap's own
// counts; ranges, pinning, interleaving; structures of other libraries, where the build found any.
#include <dirent.h>
#include <sched.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "child.hpp"
#include "core/places.hpp"
#include "workload/all.hpp"

namespace {

using namespace polder::bench;
using test::outcome;
unsigned wrong = 0;

void require(bool good, const std::string& what, const outcome& got = {}) {
  if (good) return;
  ++wrong;
  std::printf("%s: status %d\n%s%s\n", what.c_str(), got.status, got.out.c_str(), got.err.c_str());
}

outcome ask(const std::string& settings, const std::vector<std::string>& environment = {},
            const char* threads = "2") {
  return test::call(
      POLDER_BENCH,
      {"run", "set", "--preset", "smoke", "--threads", threads, "--param", settings, "--time-limit", "50"},
      environment);
}
outcome runs(const std::string& settings, const char* threads = "2") {
  const outcome got = ask(settings, {}, threads);
  require(got.status == 0 && got.lines() == 1 && got.says("\"ok\":true"), settings + " should run", got);
  return got;
}
void refuses(const std::string& settings, const std::string& phrase) {
  const outcome got = ask(settings);
  require(got.status == 2 && got.out.empty() && got.err.find(phrase) != std::string::npos,
          settings + " should say " + phrase, got);
}

// Behind the parameters; not a number: it is not told.
double number(const outcome& got, const std::string& name) {
  const auto from = got.out.find("\"operations\":");
  const auto at = got.out.find("\"" + name + "\":", from);
  return from == std::string::npos || at == std::string::npos
             ? NAN
             : std::strtod(got.out.c_str() + at + name.size() + 3, nullptr);
}

void operations_are_timed() {
  const outcome all = runs("timed=1", "3");
  require(number(all, "operations_timed") == number(all, "operations"), "each operation of each thread is timed",
          all);
  const outcome some = runs("timed=10", "3");
  const double tenth = number(some, "operations") / 10;
  require(std::abs(number(some, "operations_timed") - tenth) < tenth / 5, "one in ten is timed", some);
  for (const outcome& got : {all, some}) {
    const double p50 = number(got, "operation_p50_ns"), p99 = number(got, "operation_p99_ns");
    const double p999 = number(got, "operation_p999_ns"), worst = number(got, "operation_worst_ns");
    require(0 < p50 && p50 <= p99 && p99 <= p999 && p999 <= worst, "percentiles of operations", got);
  }
  require(!runs("timed=0").says("\"operation_"), "untimed, but told");
}

void frees_are_timed() {
  const outcome at_once = runs("frees=1 drain=at_once");
  require(number(at_once, "free_calls") == number(at_once, "reclaimed") && number(at_once, "free_calls") > 1000,
          "each free is seen", at_once);
  const double p50 = number(at_once, "free_p50_ns"), p99 = number(at_once, "free_p99_ns");
  const double p999 = number(at_once, "free_p999_ns"), worst = number(at_once, "free_worst_ns");
  require(0 < p50 && p50 <= p99 && p99 <= p999 && p999 <= worst, "percentiles of frees", at_once);
  require(number(at_once, "free_share") > 0 && number(at_once, "free_share") < 100, "share of time", at_once);
  require(number(at_once, "free_burst_longest") >= 20, "a batch is a burst", at_once);
  require(number(at_once, "free_burst_p50") <= number(at_once, "free_burst_p99") &&
              number(at_once, "free_burst_p99") <= number(at_once, "free_burst_longest"),
          "percentiles of bursts", at_once);

  const outcome amortized = runs("frees=1 drain=amortized");
  require(number(amortized, "free_calls") == number(amortized, "reclaimed"), "each free is seen", amortized);
  require(number(amortized, "free_burst_p50") == 1 && number(amortized, "free_burst_longest") == 1,
          "one object an operation is no burst", amortized);

  const outcome background = runs("frees=1 drain=background steps=200000");
  require(number(background, "free_calls") > 0 && number(background, "free_share") == 0 &&
              std::isnan(number(background, "free_burst_longest")),
          "who does no operations is in nobody's way", background);

  require(!runs("frees=0").says("\"free_"), "not asked for, but told");
}

void garbage_is_told() {
  for (const char* reclaimer : {"debra", "token", "hp"}) {
    const outcome got = runs(std::string("reclaimer=") + reclaimer);
    const double peak = number(got, "unreclaimed_peak"), one = number(got, "unreclaimed_peak_thread");
    const double mean = number(got, "unreclaimed_mean");
    // A look at one thread comes a moment after the look at all.
    require(
        0 < one && one <= 2 * peak && 0 < mean && mean <= peak && 8 * peak <= number(got, "unreclaimed_peak_bytes"),
        "garbage of all, of one thread, on average", got);
    const double epochs = number(got, "epochs");
    // How many depends on how long a thread is kept from running in the middle of an operation.
    require(std::string_view(reclaimer) == "hp" ? std::isnan(epochs) : epochs >= 1, "epochs, where there are any",
            got);
  }
}

void ranges_are_read() {
  // Half of the keys are in the set, which nobody changes.
  const outcome all = runs("insert=0 delete=0 range=100 range_keys=2000 steps=100");
  require(number(all, "ranges") == number(all, "operations") &&
              number(all, "range_objects") == 1000 * number(all, "ranges"),
          "ranges over all keys", all);
  const outcome one = runs("insert=0 delete=0 range=50 range_keys=1 steps=1000");
  const double ranges = number(one, "ranges");
  require(ranges > 0.3 * number(one, "operations") && ranges < 0.7 * number(one, "operations") &&
              number(one, "range_objects") > 0.3 * ranges && number(one, "range_objects") < 0.7 * ranges,
          "every second operation a range of one key, every second of them there", one);
  runs("insert=40 delete=40 range=10 range_keys=100 steps=5000", "3");
  refuses("insert=0 range=10 structure=hash-map", "this structure has no ranges");
  refuses("insert=0 range=10 reclaimer=hp", "reads more nodes than it has slots");
  refuses("range=1", "insert, delete and range are more than 100 percent together");
}

// The processors that the threads of a process may run on, for those that are bound to one.
std::multiset<std::string> bound_threads(pid_t process) {
  std::multiset<std::string> found;
  const std::string folder = "/proc/" + std::to_string(process) + "/task";
  DIR* const tasks = opendir(folder.c_str());
  if (tasks == nullptr) return found;
  while (const dirent* const task = readdir(tasks)) {
    std::FILE* const status = std::fopen((folder + "/" + task->d_name + "/status").c_str(), "re");
    if (status == nullptr) continue;
    char line[4096], cpus[4096];
    while (std::fgets(line, sizeof line, status) != nullptr) {
      if (std::sscanf(line, "Cpus_allowed_list: %4095s", cpus) == 1 &&
          std::string_view(cpus).find_first_of("-,") == std::string_view::npos)
        found.insert(cpus);
    }
    std::fclose(status);
  }
  closedir(tasks);
  return found;
}

void threads_are_pinned() {
  cpu_set_t before;
  if (sched_getaffinity(0, sizeof before, &before) != 0 || CPU_COUNT(&before) < 2) {
    std::printf("one processor: pinning is not looked at\n");
    return;
  }
  const cores all;
  std::set<int> seen;
  for (int i = 0; i != CPU_COUNT(&before); ++i) {
    std::thread([&] {
      require(all.pin(unsigned(i)), "a thread can be pinned");
      cpu_set_t now;
      sched_getaffinity(0, sizeof now, &now);
      require(CPU_COUNT(&now) == 1 && CPU_ISSET(sched_getcpu(), &now), "it is on its core");
      seen.insert(sched_getcpu());
    }).join();
  }
  require(seen.size() == std::size_t(CPU_COUNT(&before)), "in turn");

  for (const char* pinning : {"pinning=cores", "pinning=none"}) {
    const pid_t child = fork();
    if (child == 0) {
      execl(POLDER_BENCH, POLDER_BENCH, "run", "set", "--preset", "quick", "--threads", "4", "--param",
            "milliseconds=20000", "--param", pinning, nullptr);
      _exit(127);
    }
    const bool asked = std::string_view(pinning) == "pinning=cores";
    std::multiset<std::string> bound;
    for (int tries = 0; tries != (asked ? 1000 : 20) && bound.size() < 4; ++tries) {
      bound = bound_threads(child);
      usleep(10'000);
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::set<std::string> places(bound.begin(), bound.end());
    require(
        asked ? bound.size() == 4 && places.size() == std::min(4u, unsigned(CPU_COUNT(&before))) : bound.empty(),
        std::string(pinning) + ": " + std::to_string(bound.size()) + " threads are bound");
  }
}

void memory_is_interleaved() {
  if (memory_nodes() < 2)
    refuses("interleave=1", "this machine has one memory node: there is nothing to interleave");
  else runs("interleave=1");
}

void the_heap_tells() {
#ifdef POLDER_LIBRARY
  const outcome ours = ask("structure=hash-map", {"LD_PRELOAD=" POLDER_LIBRARY}, "4");
  require(ours.status == 0 && number(ours, "allocator_remote_frees") > 0 && number(ours, "allocator_flushes") > 0 &&
              number(ours, "allocator_flushes") < number(ours, "allocator_remote_frees") &&
              number(ours, "allocator_remote_frees") < 2000,
          "our heap tells what went home", ours);
#endif
  const outcome plain = runs("structure=hash-map", "4");
  require(!plain.says("\"allocator_flushes") && !plain.says("\"allocator_remote"),
          "the system's heap tells nothing", plain);
}

void reads_alone_run() {
  const outcome got = runs("insert=0 delete=0 structure=hash-map");
  require(number(got, "retired") == 0 && number(got, "operations") > 0, "nothing is retired", got);
}

void rivals_run() {
  unsigned rivals = 0;
  for (std::int64_t i = 0; !choice(polder::bench::set::rivals, i).empty(); ++i) {
    const std::string name(choice(polder::bench::set::rivals, i));
    ++rivals;
    const std::string is = "structure=" + name + " ";
    runs(is + "reclaimer=own steps=5000 insert=40 delete=40", "3");
    if (rivals > 1) continue;
    refuses(is + "reclaimer=debra", "reclaims in its own way: reclaimer=own");
    refuses(is + "reclaimer=own drain=amortized", "leave drain as it is");
    refuses(is + "reclaimer=own frees=1", "our reclaimers alone");
    refuses(is + "reclaimer=own insert=10 range=1", "ranges are compared with nobody's");
  }
  refuses("reclaimer=own", "for structures of other libraries");
  std::printf("%u structures of other libraries\n", rivals);
}

}  // namespace

int main() {
  operations_are_timed();
  frees_are_timed();
  garbage_is_told();
  ranges_are_read();
  threads_are_pinned();
  memory_is_interleaved();
  the_heap_tells();
  reads_alone_run();
  rivals_run();
  std::printf("%u wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
