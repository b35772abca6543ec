#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <new>

#include <polder/base/config.hpp>
#include <polder/os/clock.hpp>
#include <polder/os/ended_thread.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/system_call.hpp>
#include <polder/os/timeline_file.hpp>
#include <polder/os/timeline_sessions.hpp>

namespace polder::os::timeline {

constinit atomic<bool> recording{false};

namespace {

constexpr std::uint32_t most_buffers = 4096;  // mappings that nobody gives back
constexpr std::uint32_t most_events = 100'000'000;

struct recorder {
  timeline::sessions<buffer> sessions;
  atomic<std::uint32_t> buffers{0};          // made or being made; relaxed, a bound
  atomic<std::uint64_t> lost{0};             // events of threads without a buffer; relaxed, a figure to tell
  atomic<std::uint32_t> events_a_thread{0};  // relaxed, with timeline-session; so is the next
  atomic<std::uint64_t> at_least{0};         // ticks
  bool watches_forks = false;                // by who holds the sessions, as the rest
  bool claimed = false;                      // the file is there and is ours
  header head;
  file_name file;
};

constinit recorder state;

struct thread_state {
  buffer* own = nullptr;
  std::uint32_t refused = 0;  // the session in which there was no buffer to be had
  bool preparing = false;
};

// NOLINTNEXTLINE: 16 bytes a thread
[[gnu::tls_model("initial-exec")]] constinit thread_local thread_state mine;

std::uint32_t own_tid() { return std::uint32_t(system_call(SYS_gettid)); }

bool gone(std::uint32_t tid) { return tid == 0 || has_ended(own_process_number(), tid); }

// Both clocks at once: of some tries the one that took least.
moment look() {
  moment best;
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i != 5; ++i) {
    const std::uint64_t before = ticks(), ns = nanoseconds(CLOCK_MONOTONIC), after = ticks();
    if (after - before >= least) continue;
    least = after - before;
    best = {before + least / 2, ns};
  }
  return best;
}

std::uint64_t ticks_for(std::uint64_t ns) {
  if (ns == 0) return 0;
  const moment from = look();
  moment to;
  do to = look();
  while (to.ns - from.ns < 200'000);
  const double ticks = double(ns) * double(to.ticks - from.ticks) / double(to.ns - from.ns);
  return ticks < 0x1p64 ? std::uint64_t(ticks) : UINT64_MAX;
}

buffer* another(std::uint32_t room, std::uint32_t tid) {
  const auto fits = [room](const buffer& b) { return b.room() >= room; };
  if (buffer* const b = state.sessions.take_over(tid, fits, gone)) return b;
  const std::uint32_t number = state.buffers.fetch_add(1, order::relaxed);
  void* const p = number < most_buffers ? map(buffer::bytes_for(room)) : nullptr;
  if (p == nullptr) return state.buffers.fetch_sub(1, order::relaxed), nullptr;
  auto* const b = new (p) buffer(room, tid, std::uint16_t(number));
  state.sessions.list(b);
  return b;
}

// The calling thread's buffer, empty but for what a handler has kept since the caller looked; null: there is none to be had.
// It is the present session's, which may have begun since then, with the handler's events in it.
POLDER_NOINLINE buffer* prepare() {
  mine.preparing = true;
  signal_fence();
  const std::uint32_t session = state.sessions.now();
  const std::uint32_t room = state.events_a_thread.load(order::relaxed);
  const bool by_handler = mine.own != nullptr && mine.own->is_of(session);
  if (by_handler) return mine.preparing = false, mine.own;
  if (mine.own != nullptr && mine.own->room() < room) {
    mine.own->abandon();
    mine.own = nullptr;
  }
  if (mine.own == nullptr) mine.own = another(room, own_tid());
  if (mine.own == nullptr) {
    mine.refused = session;
  } else {
    system_call(SYS_prctl, PR_GET_NAME, mine.own->name);
    mine.own->begin(session, room, state.at_least.load(order::relaxed));
  }
  signal_fence();
  mine.preparing = false;
  return mine.own;
}

void begin_session() {
  state.head.pid = own_process_number();
  state.head.begin = look();
  state.head.date_ns = nanoseconds(CLOCK_REALTIME);
  state.lost.store(0, order::relaxed);
  state.sessions.begin();
}

// The one thread of a child begins with nothing. What an interrupted recording still writes falls into an emptied buffer.
void after_fork_in_child() {
  const bool was_on = on();
  recording.store(false, order::relaxed);
  for (buffer* b = state.sessions.first(); b != nullptr;) {
    buffer* const next = b->next;
    static_cast<void>(discard_now(b, b->bytes()));
    b = next;
  }
  state.sessions.forget();
  state.buffers.store(0, order::relaxed);
  mine = {};
  if (!was_on) return;
  begin_session();
  state.file.add_pid(state.head.pid);
  state.claimed = false;
  recording.store(true, order::relaxed);
}

void read_command(char* to, std::size_t bytes) {
  const long fd = system_call(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const long n = system_call(SYS_read, fd, to, bytes - 1);
  system_call(SYS_close, fd);
  for (long i = 0; i + 1 < n; ++i)
    if (to[i] == '\0') to[i] = ' ';
}

[[gnu::destructor]] void at_end() { static_cast<void>(stop()); }

}  // namespace

const void* own_variables() noexcept { return &mine; }

bool start(const options& o) noexcept {
  if (!state.sessions.hold()) return false;
  if (on()) return state.sessions.let_go(), false;
  state.file.clear();
  make_absolute(state.file, o.file);
  state.head = {};
  state.head.events_a_thread = std::min(std::max(o.events_a_thread, 1u), most_events);
  state.head.at_least_ns = o.at_least_ns;
  state.events_a_thread.store(state.head.events_a_thread, order::relaxed);
  state.at_least.store(ticks_for(o.at_least_ns), order::relaxed);
  state.head.pid = own_process_number();
  read_command(state.head.command, sizeof state.head.command);
  state.claimed = claim(state.file, state.head);
  if (state.claimed) {
    if (!state.watches_forks) state.watches_forks = ::pthread_atfork(nullptr, nullptr, after_fork_in_child) == 0;
    begin_session();
    recording.store(true, order::relaxed);
  }
  const bool claimed = state.claimed;  // it is the next one's as soon as this one lets go
  return state.sessions.let_go(), claimed;
}

bool stop() noexcept {
  if (!on() || !state.sessions.hold()) return false;
  bool written = false;
  if (on()) {
    recording.store(false, order::relaxed);
    state.head.end = look();
    state.head.lost_elsewhere = state.lost.load(order::relaxed);
    const std::uint32_t session = state.sessions.held();
    buffer* const all = state.sessions.first();
    // A child that recorded nothing leaves nothing, and nothing of others' goes.
    if (state.claimed || (all != nullptr && claim(state.file, state.head)))
      written = write(state.file, state.head, all, session);
  }
  return state.sessions.let_go(), written;
}

void record(kind k, std::uint64_t start, std::uint64_t end, std::uint32_t label, std::uint64_t count) noexcept {
  const std::uint32_t session = state.sessions.now();
  buffer* b = mine.own;
  if (b == nullptr || !b->is_of(session)) [[unlikely]] {
    if (mine.preparing && k == kind::map) return;  // the recorder's own memory
    if (mine.preparing || mine.refused == session || (b = prepare()) == nullptr)
      return static_cast<void>(state.lost.fetch_add(1, order::relaxed));
  }
  b->keep(k, start, end, label, count);
}

}  // namespace polder::os::timeline
