#include "core/run.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include <polder/os/printed.hpp>

#include "core/json.hpp"
#include "core/latency.hpp"
#include "core/write_line.hpp"

namespace polder::bench {

namespace {

run* current = nullptr;  // for the signal handler
char line[1 << 20];

constexpr int fatal_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM};

// Where live bytes are looked at, each call of the heap first tells those of the thread's worker.
heap_calls below;
constinit thread_local worker* working = nullptr;

void tell_live() {
  if (working != nullptr) working->tell_live();
}
void* telling_malloc(std::size_t size) { return tell_live(), below.malloc(size); }
void* telling_calloc(std::size_t count, std::size_t size) { return tell_live(), below.calloc(count, size); }
void* telling_realloc(void* block, std::size_t size) { return tell_live(), below.realloc(block, size); }
void telling_free(void* block) { return tell_live(), below.free(block); }

}  // namespace

void worker::take_over() { working = this; }

// Neither counted nor timed: it is the harness's.
guard_block::guard_block(worker& w)
    : block_(w.checked(opaque(std::malloc(size)), size)), key_(block_key(~w.of->seed, w.salt)) {
  stamp(block_, size, key_);
  fill(block_, size, key_, 8);
}

void guard_block::check_and_free(worker& w) {
  if (!stamped(block_, size, key_) || !filled(block_, size, key_, 8)) {
    w.of->fail("the guard block %p of thread %u was overwritten", block_, w.id);
  }
  std::free(block_);
}

void patience::wait() {
  if (++spins_ < 64) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    asm volatile("" : : : "memory");
#endif
  } else {
    sched_yield();
  }
}

run::run(const settings& s, std::string_view p, unsigned n, std::uint64_t number, bool main_works)
    : with(s), preset(p), threads(n), seed(number), in_main(main_works), workers_(n + 1) {
  for (unsigned i = 0; i <= n; ++i) prepare(workers_[i], i);
  current = this;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_NODEFER;
  for (const int s : fatal_signals) sigaction(s, &action, nullptr);
}

void run::prepare(worker& w, unsigned id) {
  w.of = this;
  w.id = id;
  w.numbers = random(seed, id);
  w.salt = (std::uint64_t{id} + 1) << 48;
}

void run::employ(unsigned count) {
  employed_.emplace(count);
  for (unsigned i = 0; i < count; ++i) prepare((*employed_)[i], threads + 1 + i);
}

template <class Visit>
void run::for_each_worker(Visit visit) const {
  for (const worker& w : workers_) visit(w);
  if (!employed_) return;
  for (const worker& w : *employed_) visit(w);
}

std::int64_t run::live() const {
  std::int64_t bytes = 0;
  for_each_worker([&](const worker& w) { bytes += w.live; });
  return bytes;
}

void run::become_child(unsigned seconds) {
  for (const int s : fatal_signals) signal(s, SIG_DFL);
  alarm(seconds);
  // Whoever waits for the parent's output would wait for the child's end of it, too.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != process_) raise(SIGKILL);  // before it was asked for
}

void run::watch_live() {
  memory_.emplace();
  below = heap;
  heap = {telling_malloc, telling_calloc, telling_realloc, telling_free};
}

void run::tell(std::string_view name, double value) {
  if (figure_count_ == std::size(figures_)) std::abort();
  figures_[figure_count_++] = {name, value};
}

void run::wait_and_look() {
  do {  // at least once, however short the run is
    std::int64_t live = 0;
    for_each_worker([&](const worker& w) { live += w.live_told.load(std::memory_order_relaxed); });
    memory_->look(now_ns() - began_ns_, live);
    const timespec pause{0, memory_line::look_ns};
    nanosleep(&pause, nullptr);
  } while (working_.load(std::memory_order_acquire) != 0);  // sync: last-worker
}

void run::begin_phase() {
  // Else what making the input took may be the peak, under every heap.
  (void)begin_peak();
  base_rss_kb_ = status_kb("VmRSS:");
  before_ = usage_now();
  began_ns_ = now_ns();
}

void run::end_phase() {
  after_ = usage_now();
  peak_rss_kb_ = status_kb("VmHWM:");
}

void* run::enter(void* w) {
  auto& self = *static_cast<worker*>(w);
  self.of->work(self);
  return nullptr;
}

void run::work(worker& w) {
  guard_block guard(w);

  pthread_barrier_wait(&ready_);
  if (in_main && w.id == 0) begin_phase();
  pthread_barrier_wait(&go_);
  w.begin_ns = now_ns();
  w.take_over();
  try {
    function_(body_, w);
  } catch (const std::bad_alloc&) {
    fail("operator new found no memory");
  }
  if (w.end_ns == 0) w.end_ns = now_ns();
  tell_live();
  working_.fetch_sub(1, std::memory_order_release);  // sync: last-worker
  pthread_barrier_wait(&done_);
  if (in_main && w.id == 0) end_phase();
  pthread_barrier_wait(&leave_);

  guard.check_and_free(w);
}

void run::measure_with(body_function function, void* body) {
  function_ = function;
  body_ = body;
  const unsigned members = in_main ? threads : threads + 1;
  for (auto* barrier : {&ready_, &go_, &done_, &leave_}) pthread_barrier_init(barrier, nullptr, members);
  started_ns_ = now_ns();
  working_.store(threads, std::memory_order_relaxed);

  mapped_array<pthread_t> handles(threads);
  for (unsigned i = in_main ? 1 : 0; i < threads; ++i) {
    const int error = pthread_create(&handles[i], nullptr, enter, &workers_[i]);
    if (error != 0) fail("cannot start thread %u: error %d", i, error);
  }
  if (in_main) {
    work(workers_[0]);
  } else {
    pthread_barrier_wait(&ready_);
    begin_phase();
    pthread_barrier_wait(&go_);
    if (memory_) wait_and_look();
    pthread_barrier_wait(&done_);
    end_phase();
    pthread_barrier_wait(&leave_);
  }
  for (unsigned i = in_main ? 1 : 0; i < threads; ++i) pthread_join(handles[i], nullptr);
  for (auto* barrier : {&ready_, &go_, &done_, &leave_}) pthread_barrier_destroy(barrier);
}

int run::finish() {
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  for_each_worker([&](const worker& w) {
    allocations += w.allocations;
    frees += w.frees;
  });
  if (allocations != frees) {
    fail("%llu blocks were allocated and %llu freed", static_cast<unsigned long long>(allocations),
         static_cast<unsigned long long>(frees));
  }
  if (live() != 0) fail("%lld bytes remain when every block is freed", static_cast<long long>(live()));
  // A structure tells what it retired, which of one that is only read is nothing.
  if (allocations == 0 && !with.info().of_structures()) fail("nothing was allocated");
  return print(true, {});
}

void run::reject(const char* why) const {
  std::fprintf(stderr, "polder-bench: %s: %s\n", with.info().name.data(), why);
  std::exit(2);
}

void run::fail(const char* format, ...) {
  char why[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  if (getpid() != process_) {
    std::memcpy(words_.begin(), why, std::min(sizeof why, most_words));
    _exit(1);
  }
  _exit(print(false, why));
}

void run::on_signal(int signal) {
  char why[64];
  const bool in_child = getpid() != current->process_;  // whose end the parent tells
  if (signal == SIGALRM && !in_child) {
    _exit(current->print(false, "the time limit is over"));
  }
  // Not by SA_RESETHAND: a second thread's signal would end the process before this one has told of the first. What goes
  // wrong in here is told by nobody.
  static thread_local bool telling = false;
  if (!in_child && !std::exchange(telling, true)) {
    std::snprintf(why, sizeof why, "signal %d (SIG%s)", signal, sigabbrev_np(signal));
    current->print(false, why);
  }
  ::signal(signal, SIG_DFL);
  raise(signal);
}

int run::print(bool ok, std::string_view why) {
  // Whoever went wrong from here on would wait below for the end of this, and be waited for. Of a failed run other threads may
  // still fail: they wait.
  for (const int s : fatal_signals) {
    if (ok || s == SIGALRM) ::signal(s, SIG_DFL);
  }
  if (printed_.exchange(true, std::memory_order_acq_rel)) {  // sync: one-line
    if (!ok) {
      for (;;) pause();  // somebody else's failure came first and is ending the process
    }
    return 1;
  }
  const workload_info& info = with.info();
  json out(line, sizeof line - 1);
  out.open('{').key("workload").text(info.name);
  out.key("params").open('{');
  for (unsigned i = 0; i < info.parameters.size(); ++i) {
    const parameter& p = info.parameters[i];
    out.key(p.name);
    if (p.choices.empty()) out.number(with.at(i));
    else out.text(choice(p.choices, with.at(i)));
  }
  out.close('}');
  out.key("preset");
  if (preset.empty()) out.null();
  else out.text(preset);
  out.key("threads").number(std::uint64_t{threads}).key("main_thread").truth(in_main).key("seed").number(seed);

  // The workers of a failed run may still be counting.
  const auto total = [&](auto member) {
    std::remove_cvref_t<decltype(workers_[0].*member)> result = 0;
    for_each_worker([&](const worker& w) { result += w.*member; });
    return result;
  };
  if (ok) {
    std::int64_t begin = workers_[0].begin_ns;
    std::int64_t end = workers_[0].end_ns;
    for (unsigned i = 1; i < threads; ++i) {
      const worker& w = workers_[i];
      begin = std::min(begin, w.begin_ns);
      end = std::max(end, w.end_ns);
    }
    const double seconds = static_cast<double>(end - begin) / 1e9;
    const std::uint64_t operations = total(&worker::operations);
    const usage used = after_ - before_;
    out.key("seconds").number(seconds, 9).key("operations").number(operations);
    out.key("throughput").number(static_cast<double>(operations) / seconds, 1);
    out.key("allocations").number(total(&worker::allocations));
    out.key("frees").number(total(&worker::frees));
    out.key("remote_frees").number(total(&worker::remote_frees));
    out.key("allocator_seconds");
    if (const auto ns = total(&worker::allocator_ns); ns != 0) out.number(static_cast<double>(ns) / 1e9, 9);
    else out.null();
    out.key("user_seconds").number(static_cast<double>(used.user_ns) / 1e9, 6);
    out.key("system_seconds").number(static_cast<double>(used.system_ns) / 1e9, 6);
    out.key("minor_faults").number(used.minor_faults).key("major_faults").number(used.major_faults);
    out.key("base_rss_kb").number(base_rss_kb_);
    // CLOCK_MONOTONIC, from which looks are counted, wherever the clock starts: other processes' samples are placed by it.
    out.key("began").number(static_cast<double>(began_ns_) / 1e9, 6);
    out.key("live_peak");
    if (memory_) {
      out.number(memory_->peak());
      memory_->print(out);
    } else {
      out.null().key("memory_live").null().key("memory_rss").null();
    }
    latency::print(out);
    out.key("counts").open('{');
    for (unsigned i = 0; i < figure_count_; ++i) {
      const auto [name, value] = figures_[i];
      out.key(name);
      if (value == std::floor(value) && std::abs(value) < 1e15) out.number(static_cast<std::int64_t>(value));
      else out.number(value, std::abs(value) < 1 ? 9 : 4);
    }
    out.close('}');
  } else {
    out.key("seconds").number(started_ns_ == 0 ? 0.0 : static_cast<double>(now_ns() - started_ns_) / 1e9, 6);
    for (const char* name : {"operations",    "throughput",        "allocations",         "frees",
                             "remote_frees",  "allocator_seconds", "user_seconds",        "system_seconds",
                             "minor_faults",  "major_faults",      "base_rss_kb",         "began",
                             "live_peak",     "memory_live",       "memory_rss",          "latency",
                             "latency_every", "latency_clock",     "latency_overhead_ns", "counts"}) {
      out.key(name).null();
    }
  }
  out.key("peak_rss_kb").number(ok ? peak_rss_kb_ : status_kb("VmHWM:"));
  out.key("ok").truth(ok).key("why");
  if (ok) out.null();
  else out.text(why);
  out.close('}');

  const std::string_view text = out.written();
  line[text.size()] = '\n';
  if (const int error = write_line({line, text.size() + 1}); error != 0)
    return os::not_printed("polder-bench", error);
  return ok ? 0 : 1;
}

}  // namespace polder::bench
