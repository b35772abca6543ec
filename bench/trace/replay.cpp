#include "trace/replay.hpp"

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <polder/os/printed.hpp>

#include "core/json.hpp"
#include "core/measure.hpp"
#include "core/run.hpp"
#include "core/stamp.hpp"
#include "core/write_line.hpp"
#include "trace/latency.hpp"

namespace polder::trace {
namespace {

using bench::now_ns;

// Written by the thread that did the last event on it, read by the one that does the next: see `reached`.
struct object_state {
  void* block = nullptr;
  std::uint64_t size = 0;
  bool there = false;
};

// What a thread counts, on its own stack; joined when it ends.
struct tally {
  std::uint64_t calls[trace::calls]{};
  std::uint64_t remote_frees = 0;
  std::int64_t allocator_ns = 0;
  std::int64_t waiting_ns = 0;
  latency latencies[trace::calls];

  void join(const tally& other) {
    for (unsigned c = 0; c < trace::calls; ++c) {
      calls[c] += other.calls[c];
      latencies[c].join(other.latencies[c]);
    }
    remote_frees += other.remote_frees;
    allocator_ns += other.allocator_ns;
    waiting_ns += other.waiting_ns;
  }
};

// A clock's reading costs about as much as a fast malloc: the least that two in a row are apart, on average of a batch.
double clock_cost_ns() {
  double least = 1e9;
  for (int batch = 0; batch < 20; ++batch) {
    std::int64_t sum = 0;
    for (int n = 0; n < 500; ++n) {
      const std::int64_t before = now_ns();
      sum += now_ns() - before;
    }
    least = std::min(least, static_cast<double>(sum) / 500);
  }
  return least;
}

// All of what is small; of more a line a page, up to where looking would cost the pages that nobody touches; and the end.
bool looks_zero(const void* block, std::size_t size) {
  constexpr std::size_t line = 64, page = 4096, all_of_it = 16 << 10, looked_at = 1 << 20;
  const auto* bytes = static_cast<const char*>(block);
  const auto is_zero = [&](std::size_t from, std::size_t n) { return bench::all_zero(bytes + from, n); };
  if (!is_zero(0, std::min(size, all_of_it))) return false;
  for (std::size_t at = all_of_it; at < looked_at && at + line <= size; at += page)
    if (!is_zero(at, line)) return false;
  return is_zero(size - std::min(size, line), std::min(size, line));
}

class player {
 public:
  player(const script& plan, std::string_view program, const replay_options& options)
      : plan_(plan), program_(program), options_(options), objects_(plan.objects), reached_(plan.threads.size()) {}

  int run() {
    clock_ns_ = clock_cost_ns();
    peak_begins_here_ = bench::begin_peak();
    base_rss_kb_ = bench::status_kb("VmRSS:");
    before_ = bench::usage_now();
    for (std::uint32_t n = 0; n < options_.repeat; ++n) once(n);
    after_ = bench::usage_now();
    return print(true, "");
  }

 private:
  struct alignas(128) progress {
    std::atomic<std::uint32_t> at;  // the event of the next step; `nothing` after the last
  };
  struct start {
    player* of;
    std::uint32_t thread;
  };

  // One time through. The first thread of the trace is the main thread: some heaps serve it in another way. Where there
  // are others, one more starts and joins them.
  void once(std::uint32_t repetition) {
    salt_ = repetition;
    turn_.store(0, std::memory_order_relaxed);
    for (std::size_t t = 0; t < reached_.size(); ++t)
      reached_[t].at.store(plan_.threads[t].begins, std::memory_order_relaxed);
    const std::int64_t began = now_ns();
    if (plan_.threads_that_run > 1) {
      pthread_t starter;
      if (pthread_create(
              &starter, nullptr,
              [](void* self) -> void* { return static_cast<player*>(self)->start_others(), nullptr; }, this) != 0)
        fail("a thread could not be started", nothing);
      play(plan_.order[0]);
      pthread_join(starter, nullptr);
    } else if (plan_.threads_that_run == 1) {
      play(plan_.order[0]);
    }
    wall_ns_ += now_ns() - began;
    for (object_state& o : objects_) {  // what was never freed, as when a program ends
      std::free(o.block);
      o = object_state{};
    }
  }

  void start_others() {
    bench::mapped_array<pthread_t> running(plan_.threads_that_run);
    bench::mapped_array<start> starts(plan_.threads_that_run);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    std::size_t count = 0;
    for (std::uint32_t n = 1; n < plan_.threads_that_run; ++n) {
      const thread_script& t = plan_.threads[plan_.order[n]];
      wait_until([&] { return has_done(t.after_thread, t.after); });
      for (std::size_t i = 0; i < count;) {
        if (pthread_tryjoin_np(running[i], nullptr) == 0) running[i] = running[--count];
        else ++i;
      }
      starts[n] = {this, plan_.order[n]};
      const auto enter = [](void* s) -> void* {
        const start& begin = *static_cast<start*>(s);
        begin.of->play(begin.thread);
        return nullptr;
      };
      if (pthread_create(&running[count++], &attributes, enter, &starts[n]) != 0)
        fail("a thread could not be started", nothing);
    }
    while (count > 0) pthread_join(running[--count], nullptr);
    pthread_attr_destroy(&attributes);
  }

  template <class Condition>
  static void wait_until(Condition condition) {
    bench::patience patience;
    while (!condition()) patience.wait();
  }
  bool has_done(std::uint32_t thread, std::uint32_t event) const {
    const std::uint32_t at = reached_[thread].at.load(std::memory_order_acquire);  // sync: step-done
    return at > event;
  }

  // The event up to which a thread may go: nobody is further behind than the window.
  std::uint64_t horizon() const {
    std::uint32_t slowest = nothing;
    for (std::uint32_t n = 0; n < plan_.threads_that_run; ++n)
      slowest = std::min(slowest, reached_[plan_.order[n]].at.load(std::memory_order_relaxed));
    return std::uint64_t{slowest} + options_.window;
  }

  [[gnu::noinline]] void play(std::uint32_t thread) {
    tally mine;
    const thread_script& t = plan_.threads[thread];
    const step* steps = &plan_.steps[t.first];
    std::uint64_t limit = 0;
    const bool alone = plan_.threads_that_run == 1;
    for (std::uint32_t n = 0; n < t.count; ++n) {
      const step& s = steps[n];
      if (!alone) wait_for(s, limit, mine);
      perform(s, mine);
      const std::uint32_t at = n + 1 < t.count ? steps[n + 1].number : nothing;
      reached_[thread].at.store(at, std::memory_order_release);                                   // sync: step-done
      if (options_.order == order::strict) turn_.store(s.number + 1, std::memory_order_release);  // sync: turn
    }
    pthread_mutex_lock(&mutex_);
    all_.join(mine);
    pthread_mutex_unlock(&mutex_);
  }

  void wait_for(const step& s, std::uint64_t& limit, tally& mine) {
    const auto may_go = [&] {
      if (options_.order == order::strict) return turn_.load(std::memory_order_acquire) == s.number;  // sync: turn
      if (s.after != nothing && !has_done(s.after_thread, s.after)) return false;
      if (s.number < limit) return true;
      limit = horizon();
      return s.number < limit;
    };
    if (may_go()) return;
    const std::int64_t began = now_ns();
    wait_until(may_go);
    mine.waiting_ns += now_ns() - began;
  }

  void perform(const step& s, tally& mine) {
    object_state none;
    object_state& o = s.object == nothing ? none : objects_[s.object];
    void* const old = o.block;
    if (s.object != nothing && o.there == s.makes) fail("calls are out of order", s.number);
    o.there = true;
    if (old != nullptr && (s.what == call::free || s.what == call::realloc)) check(o, s, o.size);
    const std::size_t alignment = std::size_t{1} << s.alignment_log2;
    const auto size = static_cast<std::size_t>(s.size);
    void* block = nullptr;
    const std::int64_t before = now_ns();
    switch (s.what) {
      case call::malloc: block = std::malloc(size); break;
      case call::calloc: block = std::calloc(1, size); break;
      case call::realloc: block = std::realloc(old, size); break;
      case call::posix_memalign:
        if (posix_memalign(&block, alignment, size) != 0) block = nullptr;
        break;
      case call::aligned_alloc: block = std::aligned_alloc(alignment, size); break;
      case call::memalign: block = memalign(alignment, size); break;
      case call::free: std::free(old); break;
      case call::usable_size: (void)bench::opaque(reinterpret_cast<void*>(malloc_usable_size(old))); break;
    }
    block = bench::opaque(block);
    const std::int64_t spent = now_ns() - before;
    ++mine.calls[static_cast<unsigned>(s.what)];
    mine.latencies[static_cast<unsigned>(s.what)].add(static_cast<std::uint64_t>(spent));
    mine.allocator_ns += spent;
    if (s.what == call::usable_size) return;
    if (s.what == call::free || s.gone) {
      if (s.gone) std::free(block);  // a malloc that makes an empty block where the recorded one made none
      mine.remote_frees += s.remote;
      o = object_state{};
      return;
    }
    if (block == nullptr) {
      // An empty block may be a null pointer, also where the recorded malloc had one that is none.
      if (size != 0) fail("no memory", s.number);
      o = object_state{.there = true};
      return;
    }
    if ((reinterpret_cast<std::uintptr_t>(block) & (alignment - 1)) != 0) fail("a block is not aligned", s.number);
    const std::uint64_t kept = s.what == call::realloc ? std::min(o.size, s.size) : 0;
    o.block = block;
    if (kept >= 8 && options_.touch != touch::none && !starts_with_key(block, s))
      fail("a realloc lost what the block held", s.number);
    if (s.what == call::calloc && options_.touch != touch::none && !looks_zero(block, size))
      fail("a calloc is not zero", s.number);
    o.size = s.size;
    write(o, s);
  }

  std::uint64_t key(const step& s) const { return bench::block_key(salt_ << 32, s.object); }
  bool starts_with_key(const void* block, const step& s) const {
    const std::uint64_t expected = key(s);
    return std::memcmp(block, &expected, 8) == 0;
  }
  void write(const object_state& o, const step& s) const {
    if (options_.touch == touch::none) return;
    bench::stamp(o.block, o.size, key(s));
    if (options_.touch == touch::pages) bench::fill(o.block, o.size, key(s), 4096);
  }
  void check(const object_state& o, const step& s, std::size_t size) {
    if (options_.touch == touch::none) return;
    if (!bench::stamped(o.block, size, key(s))) fail("a block was overwritten while in use", s.number);
  }

  [[noreturn]] void fail(const char* why, std::uint32_t event) {
    pthread_mutex_lock(&mutex_);  // for ever: the first one tells
    char text[160];
    if (event == nothing) std::snprintf(text, sizeof text, "%s", why);
    else std::snprintf(text, sizeof text, "%s, at event %u", why, event);
    _exit(print(false, text));
  }

  int print(bool ok, std::string_view why) {
    static char buffer[256 << 10];
    bench::json out(buffer, sizeof buffer - 1);
    std::uint64_t operations = 0;
    for (const auto n : all_.calls) operations += n;
    const bench::usage used = after_ - before_;
    const double allocator = static_cast<double>(all_.allocator_ns) * 1e-9;
    const double clock = static_cast<double>(operations) * clock_ns_ * 1e-9;
    const auto count = [&](call c) { return all_.calls[static_cast<unsigned>(c)]; };
    const std::uint64_t resizes = count(call::realloc);
    out.open('{').key("trace").text(program_).key("ok").truth(ok).key("why");
    if (ok) out.null();
    else out.text(why);
    out.key("order").text(options_.order == order::strict ? "strict" : "dependencies");
    out.key("touch").text(options_.touch == touch::none   ? "none"
                          : options_.touch == touch::ends ? "ends"
                                                          : "pages");
    out.key("window").number(std::uint64_t{options_.window}).key("repeat").number(std::uint64_t{options_.repeat});
    out.key("threads").number(std::uint64_t{plan_.threads_that_run});
    out.key("seconds").number(std::max(allocator - clock, 0.0), 9);
    out.key("allocator_seconds").number(std::max(allocator - clock, 0.0), 9).key("clock_seconds").number(clock, 9);
    out.key("wall").number(static_cast<double>(wall_ns_) * 1e-9, 9);
    out.key("waiting_seconds").number(static_cast<double>(all_.waiting_ns) * 1e-9, 9);
    out.key("operations").number(operations);
    out.key("allocations").number(operations - resizes - count(call::free) - count(call::usable_size));
    out.key("reallocs").number(resizes).key("frees").number(count(call::free));
    out.key("remote_frees").number(all_.remote_frees).key("skipped").number(plan_.skipped * options_.repeat);
    out.key("live_peak").number(plan_.live_peak);
    if (ok) {
      out.key("user").number(static_cast<double>(used.user_ns) * 1e-9, 6);
      out.key("system").number(static_cast<double>(used.system_ns) * 1e-9, 6);
      out.key("minor_faults").number(used.minor_faults).key("major_faults").number(used.major_faults);
    } else {
      for (const char* name : {"user", "system", "minor_faults", "major_faults"}) out.key(name).null();
    }
    const std::int64_t peak_rss_kb = bench::status_kb("VmHWM:");
    out.key("base_rss_kb").number(base_rss_kb_).key("peak_rss_kb").number(peak_rss_kb).key("grown_kb");
    if (peak_begins_here_) out.number(std::max(peak_rss_kb - base_rss_kb_, std::int64_t{0}));
    else out.null();
    out.key("calls").open('{');
    for (unsigned c = 0; c < trace::calls; ++c) out.key(call_names[c]).number(all_.calls[c]);
    out.close('}').key("latency").open('{');
    for (unsigned c = 0; c < trace::calls; ++c) {
      if (all_.calls[c] == 0) continue;
      out.key(call_names[c]);
      all_.latencies[c].write(out);
    }
    out.close('}').close('}');
    const auto written = out.written();
    buffer[written.size()] = '\n';
    if (const int error = bench::write_line({buffer, written.size() + 1}); error != 0)
      return os::not_printed("polder-trace", error);
    return ok ? 0 : 1;
  }

  const script& plan_;
  const std::string_view program_;
  const replay_options options_;
  bench::mapped_array<object_state> objects_;
  bench::mapped_array<progress> reached_;            // by thread of the trace; each written by its own thread
  alignas(128) std::atomic<std::uint32_t> turn_{0};  // strict: the event whose turn it is, passed on by who has it
  std::uint64_t salt_ = 0;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  tally all_;  // under mutex_
  std::int64_t wall_ns_ = 0;
  double clock_ns_ = 0;
  std::int64_t base_rss_kb_ = 0;
  bool peak_begins_here_ = false;  // else what reading the trace took may be the peak
  bench::usage before_, after_;
};

}  // namespace

int replay(const script& plan, std::string_view program, const replay_options& options) {
  bench::mapped_array<char> place(sizeof(player) + alignof(player));
  const auto aligned =
      (reinterpret_cast<std::uintptr_t>(place.begin()) + alignof(player) - 1) / alignof(player) * alignof(player);
  auto* p = new (reinterpret_cast<void*>(aligned)) player(plan, program, options);
  const int status = p->run();
  p->~player();
  return status;
}

}  // namespace polder::trace
