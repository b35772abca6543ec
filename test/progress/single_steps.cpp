// Progress at every instruction. One process steps through an operation of another, one instruction at a time (ptrace), and
// notes them all. Then, for each of them, a process just like the first one does the same, and just there
//   signal   a signal arrives, whose handler allocates and frees: it must not wait, and nothing may be damaged
//   stop     the thread is stopped until the others have allocated, freed, its blocks too, and trimmed; then it goes on
//   exit     the thread ends by a raw exit system call: the other threads must go on
//   exits    as exit, but all in one process, thread after thread: together they may strand a bounded amount of memory
//   tended   as signal, while the heap's own thread starts and comes by: what that leaves to the operation is its own
//            affair, so one in ten of the instructions may not be met again
// The operations are the last steps of scripts (rows.hpp).
//   single_steps signal|stop|exit|exits|tended all|some|within|SCRIPT [N] [SEED]
//     some: every ninth script, the seed says which, for to note a script's instructions takes longer than to interrupt it
//     here and there; all of them where POLDER_TEST_FULL is 1
//     within: the scripts of which no step crosses threads; SCRIPT: one of those that `single_steps list` prints;
//     N: at one in so many instructions of each script (1), which ones being the seed's affair
// A heap with a clock does not do the same twice, nor one with a thread of its own: POLDER_OPTIONS=decay_ms=1000000000 and,
// but for `tended`, background=0.
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../full_form.hpp"
#include "../probe/expect.hpp"
#include "../probe/one_copy.hpp"
#include "../probe/resident.hpp"
#include "measured.hpp"
#include "rows.hpp"

using namespace polder;
using namespace polder::progress;

namespace {

// ---- the process that is stepped ------------------------------------------------------------------------------------

enum question : long { begin = 0x5eed'0001, end, what_now, others_went_on };
enum reply : long { done = 0, once_more = 1, ended_there = 2 };
enum class way { by_signal, by_stop, by_exit, by_exits };

// Stops for the tracer, which answers. One function and no copies: the tracer knows the end by its address.
POLDER_ONE_COPY long ask(question q) {
  long answer = q;
  asm volatile("int3" : "+a"(answer) : : "memory");
  return answer;
}

extern "C" [[gnu::naked, gnu::used]] void raw_system_call() { asm("syscall; int3"); }

const script* under_test;
row_of_blocks main_row, handler_row, other_row, given_row;

// Nine blocks of the script's size, which is more than a superblock; two stay until the next signal, so that frees of
// the handler meet what the interrupted thread sees, and the other way round.
void on_signal(int) {
  for (int i = 0; i != 2; ++i) handler_row.step('f', 0);
  for (int i = 0; i != 9; ++i) handler_row.step('a', under_test->size);
  for (int i = 0; i != 4; ++i) handler_row.step('f', 0);
  for (int i = 0; i != 3; ++i) handler_row.step('l', 0);
}

void with_a_signal() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  ::sigaction(SIGUSR1, &action, nullptr);
  const std::size_t last = under_test->steps.size() - 1;
  handler_row.step('a', under_test->size);
  handler_row.step('a', under_test->size);
  main_row.run(*under_test, 0, last);
  ask(begin);
  main_row.step(under_test->steps[last], under_test->size);
  ask(end);
  main_row.check_all();
  handler_row.check_all();
  main_row.free_all();
  handler_row.free_all();
}

void run_under_the_stepper(void*) {
  const std::size_t last = under_test->steps.size() - 1;
  main_row.run(*under_test, 0, last);
  main_row.prepare(under_test->steps[last]);
  ask(begin);
  main_row.step(under_test->steps[last], under_test->size);
  ask(end);
}
void* under_the_stepper(void*) {
  static pthread_key_t late;  // made after the heap's, so its destructors run later
  if (under_test->steps[0] != 'd') return run_under_the_stepper(nullptr), nullptr;
  if (late == 0) probe::expect(::pthread_key_create(&late, run_under_the_stepper) == 0, "pthread_key_create");
  ::pthread_setspecific(late, &late);
  return nullptr;
}

void go_on() {
  const std::size_t size = std::min(under_test->size, std::size_t{100'000});
  for (int round = 0; round != 2; ++round) {
    for (int i = 0; i != 8; ++i) other_row.step('a', size);
    for (int i = 0; i != 8; ++i) other_row.step('n', size);
    other_row.step('e', 0);
    other_row.check_all();
    for (int i = 0; i != 8; ++i) other_row.step('i', 0);
    other_row.free_all();
  }
  ::malloc_trim(0);
}
void* another(void*) {
  go_on();
  return nullptr;
}

// While the thread is stopped the main thread does all that it would do if it were not, and has the thread's blocks freed,
// which are more than wait in an inbox before somebody looks after it.
void on_stop(int) {
  given_row.free_all();
  go_on();
  ask(others_went_on);
}
void* to_be_stopped(void* nothing) {
  for (int i = 0; i != 14; ++i) given_row.step('a', 20'000);
  return under_the_stepper(nothing);
}
void with_a_stop() {
  struct sigaction action = {};
  action.sa_handler = on_stop;
  ::sigaction(SIGUSR2, &action, nullptr);
  pthread_t thread;
  probe::expect(::pthread_create(&thread, nullptr, to_be_stopped, nullptr) == 0, "pthread_create");
  ::pthread_join(thread, nullptr);
  main_row.check_all();
  main_row.free_all();
  go_on();
}

// What a thread that ends inside may strand, in KiB: the superblock it was at, and what the C library does not give back of a
// thread that did not end its way; of a heap whose threads own spans, those too, of whose blocks here up to five pages each
// were touched; and a large block, or two where one is copied.
long may_strand() {
  long blocks = 0;
  for (const char what : under_test->steps) blocks += std::strchr("azmnxrh", what) != nullptr;
  return 128 + blocks * 20 + (under_test->size > 65'536 ? long(3 * under_test->size / 1024) : 0);
}

void with_exits() {
  long before = 0, ended = 0;
  for (long reply = once_more; (reply & once_more) != 0;) {
    pthread_t thread;
    probe::expect(::pthread_create(&thread, nullptr, under_the_stepper, nullptr) == 0, "pthread_create");
    ::pthread_join(thread, nullptr);
    reply = ask(what_now);
    // What it held others may free, and allocate in its place; but not the block that it was busy with.
    if ((reply & ended_there) != 0) main_row.forget_what_it_was_about();
    main_row.check_all();
    main_row.free_all();
    go_on();
    probe::expect(::pthread_create(&thread, nullptr, another, nullptr) == 0, "pthread_create");
    ::pthread_join(thread, nullptr);
    ended += (reply & ended_there) != 0;
    if (ended == 0) before = probe::resident_kib();
  }
  const long grown = probe::resident_kib() - before;
  probe::expect(ended == 0 || before == 0 || grown < 2048 + ended * may_strand(),
                "%ld threads that ended cost %ld KiB, more than %ld each", ended, grown, may_strand());
  if (ended > 1) probe::say("%ld threads that ended cost %ld KiB", ended, grown);
}

// `at_length`: all runs are its own, or every byte of a copy is a step.
[[noreturn]] void stepped(way how, bool at_length) {
  ::alarm(at_length ? 200 : 20);
  probe::expect(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0, "PTRACE_TRACEME: %s", std::strerror(errno));
  ::raise(SIGSTOP);
  the_neighbour.begin();
  if (how == way::by_signal) with_a_signal();
  else if (how == way::by_stop) with_a_stop();
  else with_exits();
  _exit(0);
}

// ---- the process that steps -----------------------------------------------------------------------------------------

// An instruction of the operation: where it lies, and which time it is met.
struct moment {
  unsigned long at = 0;
  unsigned time = 0;
};

// Nothing here allocates while a script is at it: all its processes begin as the same image of this one.
class stepper {
 public:
  explicit stepper(way how) : how_(how) { todo.reserve(1 << 20); }

  std::size_t one_in = 1, seed = 0;  // which of the instructions
  std::vector<moment> todo;          // those of the operation
  std::size_t length = 0;            // how many of them are the heap's own
  std::size_t met = 0;               // how many of them it was interrupted at
  bool may_miss = false;             // some: see `tended`
  std::size_t missed = 0;
  std::size_t failed = 0;

  // Each run of the operation in a process of its own, or all in one.
  void run() {
    todo.clear();
    length = 0;
    ++script_;
    recording_ = true;
    one_run();
    if (how_ == way::by_exits || failed != 0) return;
    recording_ = false;
    for (next_ = first(); next_ < todo.size() && failed < 3; next_ += one_in) one_run();
  }

 private:
  // Another one in each script, so that what they have in common is met everywhere.
  std::size_t first() const { return (seed + script_) % one_in; }

  // Whoever reads the clock reads again while the kernel sets it, so not every run meets these.
  static bool in_the_clock(unsigned long at) { return at - ::getauxval(AT_SYSINFO_EHDR) < 8192; }

  // Whether the C library is at it, which copies and clears in loops: a few rounds of each are enough.
  static bool in_a_copy(unsigned long at) {
    static const unsigned long c_library = base_of(reinterpret_cast<const void*>(&::getpid));
    return base_of(reinterpret_cast<const void*>(at)) == c_library;
  }
  static bool in_the_heap(unsigned long at) {
    static const unsigned long heap = base_of(::dlsym(RTLD_DEFAULT, "malloc"));
    return base_of(reinterpret_cast<const void*>(at)) == heap;
  }
  static unsigned long base_of(const void* at) {
    Dl_info where = {};
    return ::dladdr(at, &where) ? reinterpret_cast<unsigned long>(where.dli_fbase) : 0;
  }

  void one_run() {
    interrupted_ = false;
    const pid_t child = ::fork();
    if (child == 0) stepped(how_, recording_ || how_ == way::by_exits);
    child_ = child;
    const int status = watch(child);
    if (status == 0 && (recording_ || interrupted_ || how_ == way::by_exits)) return;
    if (status == 0 && in_the_clock(todo[next_].at)) return;
    if (status == 0 && may_miss && ++missed <= 1 + met / 10) return;
    ++failed;
    const moment m = recording_ || next_ >= todo.size() ? moment{} : todo[next_];
    Dl_info where = {};
    ::dladdr(reinterpret_cast<const void*>(m.at), &where);
    probe::say("%s.%zu: instruction %zu, at %s+%#lx, time %u: %s, status %d", under_test->steps.c_str(),
               under_test->size, next_, where.dli_fname ? where.dli_fname : "",
               m.at - reinterpret_cast<unsigned long>(where.dli_fbase), m.time,
               interrupted_ ? "interrupted" : "not met", status);
  }

  // The child's exit status.
  int watch(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
    go_on(child, 0);
    for (;;) {
      const pid_t who = ::waitpid(-1, &status, __WALL);
      if (who < 0) return 1;
      if (WIFEXITED(status) || WIFSIGNALED(status)) {
        if (who != child) continue;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      const int signal = WSTOPSIG(status);
      const bool event = status >> 16 != 0;
      if (signal == SIGTRAP && !event) trapped(who);
      else go_on(who, signal == SIGTRAP || signal == SIGSTOP ? 0 : signal);
    }
  }

  void trapped(pid_t who) {
    user_regs_struct r;
    ::ptrace(PTRACE_GETREGS, who, nullptr, &r);
    if (armed_ && who == armed_for_ && r.rip == todo[next_].at) {
      if (++times_ == todo[next_].time) return interrupt(who, r);
      return go_on(who, 0);
    }
    switch (r.rax) {
      case begin: return begins(who, r);
      case end: disarm(who); break;
      case what_now: r.rax = static_cast<unsigned long>(what_next()); break;
      case others_went_on: go_on(stopped_, 0); break;
      default: return go_on(who, SIGTRAP);
    }
    ::ptrace(PTRACE_SETREGS, who, nullptr, &r);
    go_on(who, 0);
  }

  void begins(pid_t who, user_regs_struct& r) {
    if (recording_) return record(who, r.rip);
    times_ = 0;
    if (todo[next_].at == r.rip) return interrupt(who, r);  // the very first; it is met once
    armed_ = true;
    armed_for_ = who;
    poke(who, 0, todo[next_].at);
    poke(who, 7, 1);
    go_on(who, 0);
  }

  // Steps to the end of the operation, which is where the question was asked from.
  void record(pid_t who, unsigned long asked_from) {
    unsigned long rip = asked_from, last = 0;
    do {
      // A string instruction is met once, and stepped through byte by byte.
      const bool same = rip == last;
      last = rip;
      unsigned time = 1;
      for (std::size_t i = todo.size(); i-- != 0;)
        if (todo[i].at == rip) {
          time = todo[i].time + 1;
          break;
        }
      probe::expect(todo.size() != todo.capacity(), "the operation has too many instructions");
      if (!same && (time <= 4 || !in_a_copy(rip))) todo.push_back({rip, time});
      length += !same && in_the_heap(rip);
      ::ptrace(PTRACE_SINGLESTEP, who, nullptr, nullptr);
      int status = 0;
      ::waitpid(who, &status, __WALL);
      if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
        return go_on(who, WIFSTOPPED(status) ? WSTOPSIG(status) : 0);  // crashed, say: watch() sees to it
      rip = static_cast<unsigned long>(::ptrace(PTRACE_PEEKUSER, who, offsetof(user, regs.rip), nullptr));
    } while (rip != asked_from);
    go_on(who, 0);
  }

  void interrupt(pid_t who, user_regs_struct& r) {
    disarm(who);
    interrupted_ = true;
    ++met;
    if (how_ == way::by_signal) return go_on(who, SIGUSR1);
    if (how_ == way::by_stop) {
      stopped_ = who;
      ::syscall(SYS_tgkill, child_, child_, SIGUSR2);
      return;
    }
    r.rip = reinterpret_cast<unsigned long>(&raw_system_call);
    r.rax = SYS_exit;
    r.orig_rax = ~0ul;
    r.rdi = 0;
    ::ptrace(PTRACE_SETREGS, who, nullptr, &r);
    go_on(who, 0);
  }

  // Where the runs share a process they differ: a thread's end leaves a superblock that nobody has, so the next may meet
  // other instructions.
  long what_next() {
    const long ended = interrupted_ ? long{ended_there} : 0;
    if (how_ != way::by_exits) return ended;
    interrupted_ = false;
    next_ = recording_ ? first() : next_ + one_in;
    recording_ = false;
    return next_ >= todo.size() ? ended : ended | once_more;
  }

  void disarm(pid_t who) {
    if (armed_ && who == armed_for_) {
      poke(who, 7, 0);
      armed_ = false;
    }
  }
  static void poke(pid_t who, unsigned number, unsigned long value) {
    const std::size_t offset = offsetof(user, u_debugreg) + number * sizeof(unsigned long);
    probe::expect(::ptrace(PTRACE_POKEUSER, who, offset, value) == 0, "debug register %u: %s", number,
                  std::strerror(errno));
  }
  static void go_on(pid_t who, int signal) { ::ptrace(PTRACE_CONT, who, nullptr, signal); }

  way how_;
  bool recording_ = true, interrupted_ = false, armed_ = false;
  pid_t armed_for_ = 0, child_ = 0, stopped_ = 0;
  unsigned times_ = 0;
  std::size_t next_ = 0, script_ = 0;
};

// What was found out about the scripts of one operation: in how many instructions the heap does it, where nobody
// interrupts it; at how many different ones, of all that it comes to, it could be interrupted; how often it was.
struct finding {
  const char* operation = nullptr;
  std::size_t fewest = ~std::size_t{0}, most = 0, met = 0;
  std::vector<unsigned long> places = {};

  void add(const stepper& it, std::size_t met_before) {
    fewest = std::min(fewest, it.length);
    most = std::max(most, it.length);
    met += it.met - met_before;
    for (const moment& m : it.todo) places.push_back(m.at);
  }
  void tell_of(const std::string& way) {
    std::sort(places.begin(), places.end());
    const auto different = std::unique(places.begin(), places.end()) - places.begin();
    tell(
        R"("test": "steps", "way": "%s", "operation": "%s", "fewest": %zu, "most": %zu, "places": %td, "met": %zu)",
        way.c_str(), operation, fewest, most, different, met);
  }
};

finding& about(std::vector<finding>& all, const char* operation) {
  for (finding& f : all)
    if (std::strcmp(f.operation, operation) == 0) return f;
  all.push_back({.operation = operation});
  return all.back();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "", which = argc > 2 ? argv[2] : "all";
  const bool few = which == "some" && !is_full_form();
  std::vector<script> all = scripts();
  if (which != "within")
    for (script& s : scripts_between_threads()) all.push_back(std::move(s));
  if (mode == "list") {
    for (const script& s : all) probe::say("%s.%zu", s.steps.c_str(), s.size);
    return 0;
  }
  probe::expect(mode == "signal" || mode == "stop" || mode == "exit" || mode == "exits" || mode == "tended",
                "usage: single_steps signal|stop|exit|exits|tended all|some|within|SCRIPT [N] [SEED]");
  stepper it(mode == "stop"    ? way::by_stop
             : mode == "exit"  ? way::by_exit
             : mode == "exits" ? way::by_exits
                               : way::by_signal);
  it.may_miss = mode == "tended";
  if (argc > 3) it.one_in = std::strtoul(argv[3], nullptr, 10);
  it.seed = argc > 4 ? std::strtoul(argv[4], nullptr, 10) : std::size_t(::time(nullptr));
  probe::expect(it.one_in != 0, "one in none");
  probe::say("one in %zu instructions, seed %zu", it.one_in, it.seed);
  std::vector<finding> findings;
  int run = 0;
  std::size_t number = it.seed;
  for (const script& s : all) {
    const bool one = s.steps + "." + std::to_string(s.size) == which;
    if (which != "all" && which != "some" && which != "within" && !one) continue;
    if (few && number++ % 9 != 0) continue;
    // A block that is copied is stranded whole.
    if (mode == "exits" && s.size >= 1 << 20 && s.steps.find_first_of("rh") != std::string::npos) continue;
    ++run;
    under_test = &s;
    const std::size_t met = it.met;
    it.run();
    about(findings, s.operation()).add(it, met);
    if (one)
      for (const moment& m : it.todo) probe::say("at %#lx, time %u", m.at, m.time);
  }
  probe::expect(run != 0, "no such script: %s", which.c_str());
  for (finding& f : findings) f.tell_of(mode);
  probe::say("%d scripts, interrupted %zu times, not met again %zu times; %zu failures", run, it.met, it.missed,
             it.failed);
  return it.failed == 0 && it.met != 0 ? 0 : 1;
}
