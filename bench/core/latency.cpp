#include "core/latency.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>

#include "core/heap_calls.hpp"
#include "core/log_linear.hpp"
#include "core/mapped_array.hpp"
#include "core/random.hpp"
#include "core/stopwatch.hpp"

namespace polder::bench::latency {

namespace {

enum kind : unsigned { malloc_, calloc_, realloc_, free_, kinds };
constexpr std::string_view names[kinds] = {"malloc", "calloc", "realloc", "free"};

struct histograms {
  log_linear of[kinds];
};

// A thread that finds all sets taken shares one: their counts are atomic.
struct watcher {
  watcher(unsigned n, unsigned threads) : every(n), sets(std::bit_ceil(threads < 64 ? threads : 64u)) {}

  const unsigned every;
  const stopwatch watch;
  mapped_array<histograms> sets;
  std::atomic<unsigned> seen{0};  // threads that called
};

heap_calls below;
watcher* all = nullptr;

struct thread_sampler {
  histograms* into = nullptr;
  unsigned left = 0;  // calls until the next timed one
  random numbers;

  void attach() {
    const unsigned number = all->seen.fetch_add(1, std::memory_order_relaxed);
    into = &all->sets[number & (all->sets.size() - 1)];
    numbers = random(0x6c6174656e6379u, number);
    // The way from any call to the next that is timed, so that all calls of a thread count alike, the first ones, too.
    left = 1 + static_cast<unsigned>(std::min(numbers.below(2 * all->every - 1), numbers.below(2 * all->every)));
  }

  bool due() {
    if (into == nullptr) [[unlikely]]
      attach();
    if (--left != 0) return false;
    left = 1 + static_cast<unsigned>(numbers.below(2 * all->every - 1));
    return true;
  }
};
constinit thread_local thread_sampler mine;

template <kind K, class Call>
void* timed(Call call) {
  const stopwatch& watch = all->watch;
  const std::uint64_t from = watch.begin();
  void* result = call();
  mine.into->of[K].add(watch.end(from));
  return result;
}

void* timed_malloc(std::size_t size) {
  if (!mine.due()) return below.malloc(size);
  return timed<malloc_>([=] { return below.malloc(size); });
}
void* timed_calloc(std::size_t count, std::size_t size) {
  if (!mine.due()) return below.calloc(count, size);
  return timed<calloc_>([=] { return below.calloc(count, size); });
}
void* timed_realloc(void* block, std::size_t size) {
  if (!mine.due()) return below.realloc(block, size);
  return timed<realloc_>([=] { return below.realloc(block, size); });
}
void timed_free(void* block) {
  if (!mine.due()) return below.free(block);
  timed<free_>([=]() -> void* { return below.free(block), nullptr; });
}

}  // namespace

void watch(unsigned every, unsigned threads) {
  alignas(watcher) static unsigned char place[sizeof(watcher)];  // never destroyed: threads may outlast the run
  all = new (place) watcher(every, threads);
  below = heap;
  heap = {timed_malloc, timed_calloc, timed_realloc, timed_free};
}

void print(json& out) {
  if (all == nullptr) {
    for (const char* name : {"latency", "latency_every", "latency_clock", "latency_overhead_ns"})
      out.key(name).null();
    return;
  }
  out.key("latency").open('{');
  for (unsigned k = 0; k < kinds; ++k) {
    std::uint64_t count = 0;
    std::uint64_t worst = 0;
    const auto in_bucket = [&](std::size_t i) {
      std::uint64_t sum = 0;
      for (const histograms& set : all->sets) sum += set.of[k].count(i);
      return sum;
    };
    for (std::size_t i = 0; i < log_linear::size; ++i) count += in_bucket(i);
    if (count == 0) continue;
    for (const histograms& set : all->sets) worst = worst > set.of[k].worst() ? worst : set.of[k].worst();
    out.key(names[k]).open('{').key("count").number(count).key("buckets").open('[');
    for (std::size_t i = 0; i < log_linear::size; ++i) {
      const std::uint64_t n = in_bucket(i);
      if (n == 0) continue;
      out.open('[').number(log_linear::lowest(i)).number(log_linear::highest(i)).number(n).close(']');
    }
    out.close(']').key("worst_ns").number(worst).close('}');
  }
  out.close('}').key("latency_every").number(std::uint64_t{all->every});
  out.key("latency_clock").text(all->watch.name());
  out.key("latency_overhead_ns").number(all->watch.overhead_ns());
}

}  // namespace polder::bench::latency
