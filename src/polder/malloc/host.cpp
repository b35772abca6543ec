#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <polder/heap/options_text.hpp>
#include <polder/malloc/fault_report.hpp>
#include <polder/malloc/instance.hpp>
#include <polder/malloc/profile.hpp>
#include <polder/malloc/report.hpp>
#include <polder/os/environ.hpp>
#include <polder/os/kept_file.hpp>
#include <polder/os/linux/without_signal.hpp>
#include <polder/os/print.hpp>
#include <polder/os/timeline.hpp>
#include <polder/os/topology.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::face {

constinit thread_local thread_words this_thread{.lab = &host::nobody<heap_instance::lab_type>};

namespace {

constinit heap::options options_ = usual_options<heap_instance>();

constinit os::kept_file standard_error;  // for statistics at the end

// The key whose destructor is the end of a thread; 0: none yet, else the key + 1.
//   written by  the first thread that comes, by CAS
//   read by     every thread, once in its life
//   order       relaxed: the key itself lies in the C library, which publishes it
constinit atomic<std::uint32_t> exit_key;

void end_of_thread(void*);

std::uint32_t exit_key_made() {
  std::uint32_t made = exit_key.load(order::relaxed);
  if (made != 0) return made;
  pthread_key_t key;
  if (pthread_key_create(&key, end_of_thread) != 0) return 0;
  if (exit_key.cas(made, key + 1, order::relaxed, order::relaxed)) return key + 1;
  pthread_key_delete(key);  // another thread was first
  return made;
}

bool arm() {
  const std::uint32_t made = exit_key_made();
  return made != 0 && pthread_setspecific(made - 1, &this_thread) == 0;
}

void end_of_thread(void*) {
  this_thread.gone = true;
  instance.leave_thread();
}

void after_fork_in_child() { instance.after_fork_child(); }

[[gnu::constructor]] void at_start() {
  // So that a mistake in the options shows, and the fork handlers are there, before the program begins.
  instance.deallocate(instance.allocate(1));
  if (instance.effective_options().stats != heap::stats_format::off) standard_error.keep(STDERR_FILENO);
  begin_profile();
}

[[gnu::destructor]] void at_exit() {
  const heap::options& o = instance.effective_options();
  if (o.hardened) instance.trim(0);  // what was written to freed blocks shows now or never
  end_profile();
  if (const int to = standard_error.found(); to >= 0) {
    const os::without_signal quiet(SIGPIPE);
    write_statistics(to, o.stats);
  }
}

}  // namespace

const heap::options& host::configured() noexcept {
  if (os::secure_execution()) return options_;
  char spare[2048];
  const std::string_view asked = os::environment_variable("POLDER_OPTIONS", spare);
  if (asked.data() == spare && asked.size() == sizeof spare) {
    os::line() << "polder: POLDER_OPTIONS: in a program that allocates before it begins there is room for "
               << sizeof spare - 1 << " letters";
    _exit(2);
  }
  const heap::option_error error = read_options(asked, options_, own_options);
  if (error.what != heap::option_error::none) {
    {
      os::line line;
      line << "polder: POLDER_OPTIONS: ";
      describe(line, error);
    }
    _exit(2);
  }
  const std::string_view machine = os::environment_variable("POLDER_TOPOLOGY", spare);
  if (!os::topology::understands(machine)) {
    os::line() << "polder: POLDER_TOPOLOGY: it takes SOCKETSxCPUS, as 2x48, or a directory in place of /sys, not \""
               << machine << '"';
    _exit(2);
  }
  return options_;
}

bool host::watch_thread_exit() noexcept { return !this_thread.gone && arm(); }

void host::installed() noexcept {
  // Runs in the first malloc of the process, which is long before the C library's room for handlers is used up and
  // it would allocate to make more. Being first, our handler runs first in the child: other libraries' handlers may
  // allocate there. Nothing is to be done before a fork, nor in the parent.
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  if (instance.effective_options().verbose) {
    os::line line;
    line << "polder: " POLDER_VERSION ", heap " << chosen_heap << ": ";
    write_options(line, instance.effective_options(), own_options);
  }
  const heap::options& o = instance.effective_options();
  if (o.hardened) explain_faults();
  if (o.timeline[0] != '\0')
    static_cast<void>(os::timeline::start(
        {.file = o.timeline.data(), .events_a_thread = o.timeline_events, .at_least_ns = o.timeline_at_least}));
}

}  // namespace polder::face
