// Progress at every instruction. One process steps through malloc and free of another, one instruction at a time
// (ptrace), and notes them all. Then, for each of them, a process just like the first one does the same, and just there
//   signal   a signal arrives, whose handler allocates and frees: it must not wait, and nothing may be damaged
//   exit     the thread ends by a raw exit system call: the other threads must go on
//   exits    as exit, but all in one process, thread after thread: together they may strand a bounded amount of memory
// The operations are the last ones of scripts that bring superblocks, spans or caches into every state there is around a
// boundary: how many blocks are held when the next one is asked for, which is freed first, and which last.
//   single_steps signal|exit|exits [SCRIPT]      SCRIPT: one of those that `single_steps list` prints
#include <malloc.h>
#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "../probe/resident.hpp"

using namespace polder;

namespace {

// ---- scripts --------------------------------------------------------------------------------------------------------

constexpr int most_blocks = 64;

// What to do with a row of blocks: 'a' allocates the next, 'f' frees the oldest, 'l' the one allocated last, 's' the first
// time the fourth of the row, then the eleventh and so on, 'e' every seventh at once, 'z' allocates as calloc, 'r' makes
// the oldest twice as long. The last letter is the operation under test.
struct script {
  std::string steps;
  std::size_t size;
};

std::vector<script> scripts() {
  std::vector<script> all;
  // 30,000 bytes: few to a superblock or span, so that its boundaries are near.
  for (std::size_t size : {std::size_t{30'000}, std::size_t{2'000}}) {
    const unsigned most = size == 30'000 ? 16 : 4;
    for (unsigned held = 0; held != most; ++held) {
      const std::string row(held, 'a');
      all.push_back({row + "a", size});
      if (held != 0) all.push_back({row + "f", size});
      if (held != 0) all.push_back({row + "l", size});
    }
  }
  // Several partial ones; then allocations from them, and frees until they are empty.
  const std::string rows(28, 'a');
  for (unsigned more = 0; more != 9; ++more) {
    all.push_back({rows + "e" + std::string(more, 'a') + "a", 30'000});
    all.push_back({rows + "e" + std::string(more, 'f') + "f", 30'000});
    all.push_back({rows + "e" + std::string(more * 2, 'l') + "l", 30'000});
  }
  // Several partial ones that nobody used last; then the first of them becomes empty, or all are used up.
  for (unsigned partial = 1; partial != 5; ++partial) all.push_back({rows + std::string(partial, 's'), 30'000});
  for (unsigned more = 3; more != 9; ++more) all.push_back({rows + "ssss" + std::string(more, 'f') + "f", 30'000});
  for (unsigned more = 0; more != 7; ++more) all.push_back({rows + "ssss" + std::string(more, 'a') + "a", 30'000});
  all.push_back({"aaz", 2'000});
  all.push_back({"aaar", 2'000});
  all.push_back({"a", 100'000});
  all.push_back({"af", 100'000});
  return all;
}

// ---- the process that is stepped ------------------------------------------------------------------------------------

enum question : long { begin = 0x5eed'0001, end, what_now };
enum reply : long { done = 0, once_more = 1, ended_there = 2 };
enum class way { by_signal, by_exit, by_exits };

// Stops for the tracer, which answers. One function and no copies: the tracer knows the end by its address.
[[gnu::noipa]] long ask(question q) {
  long answer = q;
  asm volatile("int3" : "+a"(answer) : : "memory");
  return answer;
}

extern "C" [[gnu::naked, gnu::used]] void raw_system_call() { asm("syscall; int3"); }

struct held {
  unsigned char* p = nullptr;
  std::size_t size = 0;
  unsigned char mark = 0;
};

class row_of_blocks {
 public:
  void step(char what, std::size_t size) {
    switch (what) {
      case 'a': put(std::malloc(size), size); break;
      case 'z': put(std::calloc(1, size), size); break;
      case 'f': free(first_++); break;
      case 'l': free(--last_); break;
      case 's': free(7 * seventh_++ + 3); break;
      case 'e':
        for (int i = first_; i < last_; i += 7) free(i);
        break;
      case 'r': {
        held& h = blocks_[first_];
        check(h);
        put(std::realloc(h.p, 2 * size), 2 * size);
        h = {};
        break;
      }
    }
  }
  void run(const script& s, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i != to; ++i) step(s.steps[i], s.size);
  }
  void check_all() const {
    for (int i = first_; i < last_; ++i) check(blocks_[i]);
  }
  void free_all() {
    while (first_ < last_) free(first_++);
    first_ = last_ = seventh_ = 0;
  }
  // Before a step in which the thread may end: which blocks it is about, and what is to be forgotten if it did.
  void prepare(char what) {
    busy_[0] = what == 'f' || what == 'r' ? first_
               : what == 'l'              ? last_ - 1
               : what == 's'              ? 7 * seventh_ + 3
                                          : last_;
    busy_[1] = last_;
    everything_ = what == 'e';
  }
  void forget_what_it_was_about() {
    for (int i = 0; i != most_blocks; ++i)
      if (everything_ || i == busy_[0] || i == busy_[1]) blocks_[i] = {};
  }

 private:
  void put(void* p, std::size_t size) {
    held h{static_cast<unsigned char*>(probe::opaque(p)), size, ++mark_};
    if (!h.p) _exit(3);
    h.p[0] = h.p[size / 2] = h.p[size - 1] = h.mark;
    blocks_[last_++] = h;
  }
  static void check(const held& h) {
    if (h.p && (h.p[0] != h.mark || h.p[h.size / 2] != h.mark || h.p[h.size - 1] != h.mark)) {
      static const char text[] = "a block changed under its holder\n";
      [[maybe_unused]] auto n = ::write(2, text, sizeof text - 1);
      _exit(4);
    }
  }
  void free(int i) {
    held h = blocks_[i];
    blocks_[i] = {};
    if (!h.p) return;
    check(h);
    std::free(h.p);
  }

  held blocks_[most_blocks];
  int first_ = 0, last_ = 0;
  int busy_[2] = {};
  int seventh_ = 0;
  bool everything_ = false;
  unsigned char mark_ = 0;
};

const script* under_test;
row_of_blocks main_row, handler_row, other_row;

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

void* to_be_ended(void*) {
  const std::size_t last = under_test->steps.size() - 1;
  main_row.run(*under_test, 0, last);
  main_row.prepare(under_test->steps[last]);
  ask(begin);
  main_row.step(under_test->steps[last], under_test->size);
  ask(end);
  return nullptr;
}

void go_on() {
  for (int round = 0; round != 3; ++round) {
    for (int i = 0; i != 16; ++i) other_row.step('a', under_test->size);
    other_row.step('e', 0);
    other_row.check_all();
    other_row.free_all();
  }
}
void* another(void*) {
  go_on();
  return nullptr;
}

void with_exits() {
  long before = 0, ended = 0;
  for (long reply = once_more; (reply & once_more) != 0;) {
    pthread_t thread;
    probe::expect(::pthread_create(&thread, nullptr, to_be_ended, nullptr) == 0, "pthread_create");
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
  // Of each that ended: one superblock of eight blocks, touched at both ends and in the middle, and what the C library
  // does not give back of a thread that did not end its way.
  const long grown = probe::resident_kib() - before;
  probe::expect(ended == 0 || before == 0 || grown < 2048 + ended * 128, "%ld threads that ended cost %ld KiB",
                ended, grown);
  if (ended > 1) probe::say("%ld threads that ended cost %ld KiB", ended, grown);
}

[[noreturn]] void stepped(way how) {
  ::alarm(how == way::by_exits ? 200 : 20);
  probe::expect(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0, "PTRACE_TRACEME: %s", std::strerror(errno));
  ::raise(SIGSTOP);
  if (how == way::by_signal) with_a_signal();
  else with_exits();
  _exit(0);
}

// ---- the process that steps -----------------------------------------------------------------------------------------

// An instruction of the operation: where it lies, and which time it is met.
struct moment {
  unsigned long at = 0;
  unsigned time = 0;
};

// Nothing here allocates once the first process is made: all of them begin as the same image of this one.
class stepper {
 public:
  explicit stepper(way how) : how_(how) { todo.reserve(1 << 20); }

  std::vector<moment> todo;  // the instructions of the operation
  std::size_t met = 0;       // how many of them it was interrupted at
  std::size_t failed = 0;

  // Each run of the operation in a process of its own, or all in one.
  void run() {
    todo.clear();
    recording_ = true;
    one_run();
    if (how_ == way::by_exits || failed != 0) return;
    recording_ = false;
    for (next_ = 0; next_ != todo.size() && failed < 3; ++next_) one_run();
  }

 private:
  void one_run() {
    interrupted_ = false;
    const pid_t child = ::fork();
    if (child == 0) stepped(how_);
    const int status = watch(child);
    if (status == 0 && (recording_ || interrupted_ || how_ == way::by_exits)) return;
    ++failed;
    const moment m = recording_ || next_ >= todo.size() ? moment{} : todo[next_];
    probe::say("%s.%zu: instruction %zu, at %#lx, time %u: %s, status %d", under_test->steps.c_str(),
               under_test->size, next_, m.at, m.time, interrupted_ ? "interrupted" : "not met", status);
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
    unsigned long rip = asked_from;
    do {
      unsigned time = 1;
      for (std::size_t i = todo.size(); i-- != 0;)
        if (todo[i].at == rip) {
          time = todo[i].time + 1;
          break;
        }
      probe::expect(todo.size() != todo.capacity(), "the operation has too many instructions");
      todo.push_back({rip, time});
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
    next_ = recording_ ? 0 : next_ + 1;
    recording_ = false;
    return next_ == todo.size() ? ended : ended | once_more;
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
  pid_t armed_for_ = 0;
  unsigned times_ = 0;
  std::size_t next_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  std::vector<script> all = scripts();
  if (mode == "list") {
    for (const script& s : all) probe::say("%s.%zu", s.steps.c_str(), s.size);
    return 0;
  }
  probe::expect(mode == "signal" || mode == "exit" || mode == "exits",
                "usage: single_steps signal|exit|exits [SCRIPT]");
  stepper it(mode == "signal" ? way::by_signal : mode == "exit" ? way::by_exit : way::by_exits);
  std::vector<unsigned long> places;
  places.reserve(1 << 22);
  int run = 0;
  for (const script& s : all) {
    if (argc > 2 && s.steps + "." + std::to_string(s.size) != argv[2]) continue;
    ++run;
    under_test = &s;
    it.run();
    for (const moment& m : it.todo) places.push_back(m.at);
    if (argc > 2)
      for (const moment& m : it.todo) probe::say("at %#lx, time %u", m.at, m.time);
  }
  std::sort(places.begin(), places.end());
  const auto different = std::unique(places.begin(), places.end()) - places.begin();
  probe::expect(run != 0, "no such script: %s", argc > 2 ? argv[2] : "");
  probe::say("%d scripts, interrupted %zu times at %td different instructions; %zu failures", run, it.met,
             different, it.failed);
  return it.failed == 0 && it.met != 0 ? 0 : 1;
}
