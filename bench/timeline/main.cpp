// polder-timeline-cost [ROUNDS [SECONDS [THREADS]]] — what recording a timeline costs, as one JSON line.
//
// Threads look blocks up and replace them, keep what they replaced in a bag and free each full bag, as an epoch-based
// reclaimer would; with each bag come four events: its rotation, the free, a change of the epoch, a gauge. A bag is as
// large as it takes to come to the thesis's rate: 100,000 events a thread in its runs of 5 seconds.
//
// Three sides, in a random order in each round: `none`, the same code without a call of the recorder; `off`, with the
// calls, not recording; `on`, recording. A figure is operations in a second of processor time, so that what else runs
// on the machine is not in it; a ratio is the median of the rounds', with its 95 % interval by order statistics.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <polder/os/printed.hpp>
#include <polder/os/timeline.hpp>

namespace {

namespace timeline = polder::os::timeline;
using timeline::kind;

constexpr unsigned slots = 1u << 15;
constexpr unsigned events_a_bag = 4;
constexpr double wanted_rate = 100'000 / 5.0;  // events a second, of a thread

enum class side { none, off, on };
constexpr side sides[] = {side::none, side::off, side::on};

double seconds_of(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

struct node {
  std::uint64_t key, value[5];
};

// How many operations a second of processor time, and how many bags a second.
struct rate {
  double operations, bags;
};

using bag_of_nodes = std::vector<node*>;

[[gnu::noinline]] void rotate_untold(bag_of_nodes& bag, std::uint32_t) {
  for (const node* n : bag) delete n;
  bag.clear();
}

[[gnu::noinline]] void rotate_told(bag_of_nodes& bag, std::uint32_t epoch) {
  timeline::mark(kind::bag_rotate, epoch, bag.size());
  timeline::mark(kind::unreclaimed, epoch, bag.size());
  {
    const timeline::span s{kind::batch_free, epoch, bag.size()};
    for (const node* n : bag) delete n;
  }
  timeline::mark(kind::epoch_advance, epoch);
  bag.clear();
}

// By a pointer, so that the compiler makes one loop for all sides: two would differ by more than what is measured.
rate work(void (*rotate)(bag_of_nodes&, std::uint32_t), double seconds, unsigned bag_size, unsigned seed) {
  std::vector<node*> table(slots);
  for (node*& n : table) n = new node{};
  bag_of_nodes bag;
  bag.reserve(bag_size);
  std::uint64_t random = seed * 0x9e37'79b9'7f4a'7c15u + 1, sum = 0, operations = 0, bags = 0;
  std::uint32_t epoch = 0;
  const double from = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  double now = from;
  while (now < from + seconds) {
    for (unsigned i = 0; i != 2000; ++i, ++operations) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      node*& slot = table[random % slots];
      sum += slot->key;
      if ((random >> 40 & 3) != 0) continue;
      bag.push_back(slot);
      slot = new node{random, {}};
      if (bag.size() != bag_size) continue;
      ++bags;
      rotate(bag, ++epoch);
    }
    now = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  }
  for (const node* n : table) delete n;
  for (const node* n : bag) delete n;
  static std::atomic<std::uint64_t> sink;  // so that the keys are read
  sink.fetch_add(sum, std::memory_order_relaxed);
  return {double(operations) / (now - from), double(bags) / (now - from)};
}

rate together(side s, double seconds, unsigned threads, unsigned bag_size) {
  if (s == side::on && !timeline::start({.file = "/dev/null"})) std::exit(1);
  std::vector<rate> each(threads);
  std::vector<std::thread> running;
  for (unsigned t = 0; t != threads; ++t)
    running.emplace_back(
        [&, t] { each[t] = work(s == side::none ? rotate_untold : rotate_told, seconds, bag_size, t); });
  for (auto& r : running) r.join();
  if (s == side::on && !timeline::stop()) std::exit(1);
  rate sum{};
  for (const rate& r : each) sum.operations += r.operations, sum.bags += r.bags / threads;
  return sum;
}

// Nanoseconds an interval takes, with nothing in it.
double empty_interval(unsigned many) {
  const double from = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  for (unsigned i = 0; i != many; ++i) timeline::span s{kind::single_free, i};
  return (seconds_of(CLOCK_THREAD_CPUTIME_ID) - from) * 1e9 / many;
}

double median(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  const std::size_t n = of.size();
  return n % 2 != 0 ? of[n / 2] : (of[n / 2 - 1] + of[n / 2]) / 2;
}

// The ratio of two sides, round by round: the median, and the order statistics that hold it in 95 of 100 experiments.
void print_ratio(const char* name, const std::vector<double>& of, const std::vector<double>& to) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i != of.size(); ++i) ratios.push_back(of[i] / to[i]);
  std::sort(ratios.begin(), ratios.end());
  const std::size_t n = ratios.size();
  std::size_t out = 0;  // so many at either end are outside
  double tail = std::pow(0.5, double(n)), term = tail;
  while (out < n / 2 && tail <= 0.025) {
    term *= double(n - out) / double(out + 1);
    tail += term;
    ++out;
  }
  std::printf(",\"%s\":{\"median\":%.4f", name, median(ratios));
  if (out != 0) std::printf(",\"low\":%.4f,\"high\":%.4f", ratios[out - 1], ratios[n - out]);
  std::printf("}");
}

double argument(int argc, char** argv, int at, double usual, double least, double most) {
  if (argc <= at) return usual;
  char* end = nullptr;
  const double value = std::strtod(argv[at], &end);
  if (end != argv[at] && *end == '\0' && value >= least && value <= most) return value;
  std::fprintf(stderr, "polder-timeline-cost: [ROUNDS [SECONDS [THREADS]]]: '%s' is no number from %g to %g\n",
               argv[at], least, most);
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  const auto rounds = unsigned(argument(argc, argv, 1, 20, 1, 1e6));
  const double seconds = argument(argc, argv, 2, 0.5, 1e-3, 86'400);
  const auto threads = unsigned(argument(argc, argv, 3, 2, 1, 256));
  // Retired objects a second, hence the size of a bag.
  const rate known = together(side::none, 0.2, threads, 1000);
  const auto bag_size = unsigned(std::max(1.0, known.bags * 1000 * events_a_bag / wanted_rate));

  std::vector<double> measured[3], bags, off_ns, on_ns;
  std::mt19937 random(1);
  for (unsigned r = 0; r != rounds; ++r) {
    side order[3];
    std::copy(std::begin(sides), std::end(sides), order);
    std::shuffle(std::begin(order), std::end(order), random);
    for (const side s : order) {
      const rate found = together(s, seconds, threads, bag_size);
      measured[unsigned(s)].push_back(found.operations);
      if (s == side::on) bags.push_back(found.bags);
    }
    off_ns.push_back(empty_interval(90'000));
    if (!timeline::start({.file = "/dev/null"})) return 1;
    on_ns.push_back(empty_interval(90'000));
    if (!timeline::stop()) return 1;
  }
  std::printf(
      "{\"program\":\"polder-timeline-cost\",\"rounds\":%u,\"seconds\":%g,\"threads\":%u,\"objects_a_bag\":%u",
      rounds, seconds, threads, bag_size);
  std::printf(",\"events_a_second_of_a_thread\":%.0f", median(bags) * events_a_bag);
  std::printf(",\"interval_ns\":{\"off\":%.2f,\"on\":%.2f,\"on_at_first\":%.2f}", median(off_ns), median(on_ns),
              on_ns[0]);
  print_ratio("off_to_none", measured[1], measured[0]);
  print_ratio("on_to_none", measured[2], measured[0]);
  print_ratio("on_to_off", measured[2], measured[1]);
  const char* const names[] = {"none", "off", "on"};
  for (unsigned s = 0; s != 3; ++s) {
    std::printf(",\"%s\":[", names[s]);
    for (std::size_t i = 0; i != measured[s].size(); ++i) std::printf("%s%.0f", i != 0 ? "," : "", measured[s][i]);
    std::printf("]");
  }
  std::printf("}\n");
  return polder::os::printed("polder-timeline-cost");
}
