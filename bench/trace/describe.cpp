#include "trace/describe.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>
#include <vector>

#include "core/json.hpp"
#include "trace/event.hpp"

namespace polder::trace {
namespace {

constexpr std::size_t samples = 64;  // of live bytes over time
constexpr std::size_t common_sizes = 12;

// Counts by powers of two: number 0 by itself, then 1, 2–3, 4–7 …
struct octaves {
  std::array<std::uint64_t, 65> count{};
  std::array<std::uint64_t, 65> sum{};

  void add(std::uint64_t value) {
    const auto n = static_cast<std::size_t>(std::bit_width(value));
    ++count[n];
    sum[n] += value;
  }
  static std::uint64_t least(std::size_t n) { return n == 0 ? 0 : std::uint64_t{1} << (n - 1); }
  static std::uint64_t most(std::size_t n) { return n == 0 ? 0 : least(n) + (least(n) - 1); }

  void write(bench::json& out, bool with_sum) const {
    out.open('[');
    for (std::size_t n = 0; n < count.size(); ++n) {
      if (count[n] == 0) continue;
      out.open('[').number(least(n)).number(most(n)).number(count[n]);
      if (with_sum) out.number(sum[n]);
      out.close(']');
    }
    out.close(']');
  }
};

struct object_life {
  std::uint64_t size;
  std::uint64_t made_ns;
  std::uint64_t made_after;  // this many other objects
  std::uint32_t thread;
};

struct thread_share {
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t remote_frees = 0;
  std::uint64_t bytes = 0;
  std::uint64_t first_ns = ~std::uint64_t{0};
  std::uint64_t last_ns = 0;
};

struct moment {
  std::uint64_t time_ns = 0;
  std::uint64_t bytes = 0;
};

struct summary {
  std::array<std::uint64_t, calls> by_call{};
  std::uint64_t failed = 0, null = 0, made = 0, ended = 0, remote = 0, resized = 0, grown = 0;
  std::uint64_t requested = 0, zeroed = 0, live = 0, peak = 0, peak_ns = 0, peak_objects = 0;
  octaves sizes, lives_in_allocations, lives_in_ns;
  std::unordered_map<std::uint64_t, std::uint64_t> exact;
  std::vector<thread_share> threads;
  std::vector<moment> over_time;

  explicit summary(const file_header& about)
      : threads(about.threads), lives_(about.objects), stride_(about.events / samples + 1) {}

  void add(const event& e, std::uint64_t number) {
    thread_share& mine = threads[e.thread];
    ++by_call[static_cast<std::size_t>(e.what)];
    failed += e.failed;
    null += e.null && e.what != call::realloc;
    mine.first_ns = std::min(mine.first_ns, e.time_ns);
    mine.last_ns = e.time_ns;
    if (e.makes()) make(e, mine);
    else if (e.ends()) end(e, mine);
    else if (e.uses() && e.what == call::realloc) resize(e, mine);
    if (live > peak) {
      peak = live;
      peak_ns = e.time_ns;
    }
    peak_objects = std::max(peak_objects, made - ended);
    if (number % stride_ == 0) over_time.push_back({e.time_ns, live});
  }

 private:
  void ask(std::uint64_t size, thread_share& mine) {
    requested += size;
    mine.bytes += size;
    sizes.add(size);
    ++exact[size];
  }
  void make(const event& e, thread_share& mine) {
    lives_[e.object] = {e.size, e.time_ns, made, e.thread};
    ++made;
    ++mine.allocations;
    live += e.size;
    if (e.what == call::calloc) zeroed += e.size;
    ask(e.size, mine);
  }
  void resize(const event& e, thread_share& mine) {
    object_life& object = lives_[e.object];
    ++resized;
    grown += e.size > object.size;
    live += e.size - object.size;
    object.size = e.size;
    ask(e.size, mine);
  }
  void end(const event& e, thread_share& mine) {
    const object_life& object = lives_[e.object];
    ++ended;
    ++mine.frees;
    live -= object.size;
    lives_in_allocations.add(made - object.made_after - 1);
    lives_in_ns.add(e.time_ns - object.made_ns);
    if (object.thread != e.thread) {
      ++remote;
      ++mine.remote_frees;
    }
  }

  std::vector<object_life> lives_;
  std::uint64_t stride_;
};

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

std::string describe(reader& trace) {
  const file_header& about = trace.about();
  summary s(about);
  event e;
  for (std::uint64_t n = 0; trace.next(e); ++n) s.add(e, n);

  std::vector<std::pair<std::uint64_t, std::uint64_t>> common(s.exact.begin(), s.exact.end());
  std::sort(common.begin(), common.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (common.size() > common_sizes) common.resize(common_sizes);

  std::vector<char> buffer((64 << 10) + s.threads.size() * 200);
  bench::json out(buffer.data(), buffer.size());
  out.open('{').key("program").text(about.program).key("format").number(std::uint64_t{about.version});
  out.key("events").number(about.events).key("threads").number(std::uint64_t{about.threads});
  out.key("objects").number(about.objects).key("seconds").number(seconds(about.duration_ns), 9);
  out.key("cut_short").truth(about.cut_short != 0).key("foreign").number(about.foreign);
  out.key("calls").open('{');
  for (unsigned c = 0; c < calls; ++c) out.key(call_names[c]).number(s.by_call[c]);
  out.close('}').key("failed").number(s.failed).key("null").number(s.null);
  out.key("allocations").number(s.made).key("frees").number(s.ended).key("never_freed").number(s.made - s.ended);
  out.key("resized").number(s.resized).key("grown").number(s.grown);
  out.key("requested_bytes").number(s.requested).key("zeroed_bytes").number(s.zeroed);
  out.key("sizes");
  s.sizes.write(out, true);
  out.key("common_sizes").open('[');
  for (const auto& [size, count] : common) out.open('[').number(size).number(count).close(']');
  out.close(']').key("lives_in_allocations");
  s.lives_in_allocations.write(out, false);
  out.key("lives_in_ns");
  s.lives_in_ns.write(out, false);
  out.key("remote_frees").number(s.remote);
  out.key("remote_share")
      .number(s.ended == 0 ? 0.0 : static_cast<double>(s.remote) / static_cast<double>(s.ended), 6);
  out.key("live").open('{').key("peak_bytes").number(s.peak).key("peak_at").number(seconds(s.peak_ns), 9);
  out.key("peak_objects").number(s.peak_objects).key("end_bytes").number(s.live).key("over_time").open('[');
  for (const moment& m : s.over_time) out.open('[').number(seconds(m.time_ns), 9).number(m.bytes).close(']');
  out.close(']').close('}').key("by_thread").open('[');
  for (const thread_share& t : s.threads) {
    out.open('{').key("allocations").number(t.allocations).key("frees").number(t.frees);
    out.key("remote_frees").number(t.remote_frees).key("bytes").number(t.bytes);
    out.key("from")
        .number(seconds(std::min(t.first_ns, t.last_ns)), 9)
        .key("to")
        .number(seconds(t.last_ns), 9)
        .close('}');
  }
  out.close(']').close('}');
  return std::string(out.written());
}

}  // namespace polder::trace
