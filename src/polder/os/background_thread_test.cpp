#include <polder/os/background_thread.hpp>
#include <polder/os/futex.hpp>

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>

namespace polder::os {
namespace {

struct seen {
  std::atomic<bool> may_end{false};
  std::atomic<int> runs{0};
  long id = 0;
  std::uint64_t blocked = 0;
  int error = 0;
  char name[16] = {};

  static void body(void* self) {
    auto& s = *static_cast<seen*>(self);
    s.id = ::syscall(SYS_gettid);
    ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &s.blocked, sizeof s.blocked);
    ::syscall(SYS_prctl, PR_GET_NAME, s.name);
    ::close(-1);
    s.error = errno;
    ++s.runs;
    while (!s.may_end) sleep_for(1);
  }
};

// Not SIGKILL and SIGSTOP, nor what an emulator keeps for itself.
std::uint64_t whatever_can_be_blocked() {
  const std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t before = 0, blocked = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, &blocked, sizeof before);
  return blocked;
}

bool starts(background_thread& t, seen& s) { return t.start(seen::body, &s); }
void ends(background_thread& t, seen& s) {
  s.may_end = true;
  while (t.runs()) sleep_for(1);
}

#define NEEDS_A_THREAD(t, s) \
  if (!starts(t, s)) GTEST_SKIP() << "there is none under a sanitizer"

TEST(background_thread, is_one_of_the_process_with_an_errno_and_no_signals) {
  background_thread t;
  seen s;
  EXPECT_FALSE(t.runs());
  errno = E2BIG;
  NEEDS_A_THREAD(t, s);
  while (s.runs == 0) sleep_for(1);
  EXPECT_TRUE(t.runs());
  EXPECT_NE(::syscall(SYS_gettid), s.id);
  EXPECT_EQ(0, ::syscall(SYS_tgkill, ::getpid(), s.id, 0));
  EXPECT_EQ(whatever_can_be_blocked(), s.blocked);
  EXPECT_STREQ("polder", s.name);
  EXPECT_EQ(EBADF, s.error);
  EXPECT_EQ(E2BIG, errno);
  ends(t, s);
}

TEST(background_thread, is_one_at_a_time_and_comes_again) {
  background_thread t;
  seen first, second;
  NEEDS_A_THREAD(t, first);
  EXPECT_FALSE(starts(t, second));
  ends(t, first);
  for (int i = 1; i != 100; ++i) {
    second.may_end = true;
    EXPECT_TRUE(starts(t, second));
    ends(t, second);
    EXPECT_EQ(i, second.runs);
  }
  EXPECT_EQ(1, first.runs);
}

// What the one before has left in its variables is not the next one's: a buffer of the timeline may be another thread's by then.
TEST(background_thread, that_comes_again_has_variables_of_its_own) {
  struct counts {
    std::atomic<int> runs{0};
    int before = 0, error = 0;
    static void body(void* self) {
      static thread_local int lives;
      auto& c = *static_cast<counts*>(self);
      c.before = lives++;
      c.error = errno;
      ::close(-1);
      ++c.runs;
    }
  };
  background_thread t;
  counts c;
  for (int i = 1; i != 4; ++i) {
    if (!t.start(counts::body, &c)) GTEST_SKIP() << "there is none under a sanitizer";
    while (t.runs()) sleep_for(1);
    EXPECT_EQ(i, c.runs);
    EXPECT_EQ(0, c.before);
    EXPECT_EQ(0, c.error);
  }
}

// Whether one can be started under a limit below what is mapped, when the limit has gone, and when somebody has tried again.
TEST(background_thread, for_which_there_was_no_room_may_be_tried_again) {
  if (const char* why = lacks_limits()) GTEST_SKIP() << why;
  background_thread probe;
  seen its;
  NEEDS_A_THREAD(probe, its);
  ends(probe, its);
  EXPECT_EQ(fine, forked([] {
              background_thread t;
              seen s;
              rlimit before;
              if (::getrlimit(RLIMIT_AS, &before) != 0) return 1;
              const rlimit none{1, before.rlim_max};
              if (::setrlimit(RLIMIT_AS, &none) != 0) return 1;
              if (starts(t, s) || t.refusal() != ENOMEM) return 2;
              if (::setrlimit(RLIMIT_AS, &before) != 0) return 1;
              if (starts(t, s)) return 3;
              t.try_again();
              if (t.refusal() != 0 || !starts(t, s)) return 4;
              ends(t, s);
              return s.runs == 1 ? 0 : 5;
            }));
}

TEST(background_thread, signals_are_as_they_were_for_who_starts_it) {
  background_thread t;
  seen s;
  s.may_end = true;
  sigset_t before, after;
  std::memset(&before, 0, sizeof before), std::memset(&after, 0, sizeof after);
  ::pthread_sigmask(SIG_BLOCK, nullptr, &before);
  NEEDS_A_THREAD(t, s);
  ::pthread_sigmask(SIG_BLOCK, nullptr, &after);
  EXPECT_EQ(0, std::memcmp(&before, &after, sizeof before));
  ends(t, s);
}

constexpr char with_rights[] = "POLDER_TEST_HAS_RIGHTS";  // though its user is not root

// The C library changes the rights of its own threads.
TEST(background_thread, notices_that_the_others_gave_up_rights) {
  if (::getuid() != 0 && ::getenv(with_rights) == nullptr) GTEST_SKIP() << "there are none to give up";
  struct looks {
    std::atomic<int> wanted{0}, done{0};
    bool shares[2] = {};
    static void body(void* self) {
      auto& l = *static_cast<looks*>(self);
      for (int i = 0; i != 2; ++i) {
        while (l.wanted <= i) sleep_for(1);
        l.shares[i] = background_thread::shares_rights();
        ++l.done;
      }
    }
    void look() {
      ++wanted;
      while (done != wanted) sleep_for(1);
    }
  };
  EXPECT_EQ(fine, forked([&] {
              background_thread t;
              looks l;
              if (!t.start(looks::body, &l)) return 0;  // there is none under a sanitizer
              l.look();
              if (!l.shares[0]) return 1;
              if (::setuid(65'534) != 0) return 2;
              l.look();
              return l.shares[1] ? 3 : 0;
            }));
}

// As systemd starts a service with AmbientCapabilities=: another user, who keeps some of root's capabilities. They may read this
// program, too, which begins anew. errno, 0 if there are none.
int become_a_service() {
  __user_cap_header_struct own{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct kept[_LINUX_CAPABILITY_U32S_3] = {};
  for (const unsigned c : {CAP_SETUID, CAP_DAC_OVERRIDE}) kept[0].permitted |= 1u << c;
  kept[0].effective = kept[0].inheritable = kept[0].permitted;
  if (::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || ::setuid(1000) != 0 || ::syscall(SYS_capset, &own, kept) != 0)
    return errno;
  for (const unsigned long c : {CAP_SETUID, CAP_DAC_OVERRIDE})
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, c, 0, 0) != 0) return errno;
  return 0;
}

TEST(background_thread, notices_it_in_a_service_that_root_did_not_start) {
#if defined(POLDER_EMULATED)
  GTEST_SKIP() << "the kernel begins no program that an emulator runs";
#endif
  if (::getuid() != 0) GTEST_SKIP() << "only root can start one";
  if (forked(become_a_service) != fine) GTEST_SKIP() << "no ambient capabilities here";
  EXPECT_EQ(fine, forked([] {
              if (become_a_service() != 0) return 2;
              std::string has(with_rights);
              has += "=1";
              const char* const environment[] = {has.c_str(), nullptr};
              ::execle("/proc/self/exe", "unit.os",
                       "--gtest_filter=background_thread.notices_that_the_others_gave_up_rights",
                       static_cast<char*>(nullptr), environment);
              return 3;
            }));
}

TEST(background_thread, a_child_of_fork_has_none_until_it_starts_its_own) {
  background_thread t;
  seen s;
  NEEDS_A_THREAD(t, s);
  EXPECT_EQ(fine, forked([&] {
              if (!t.runs()) return 1;  // so it seems
              t.forget();
              seen own;
              if (!starts(t, own)) return 2;
              ends(t, own);
              return own.runs == 1 ? 0 : 3;
            }));
  ends(t, s);
}

#if defined(__x86_64__)
// Another thread may fork after any instruction of one that starts it for the first time: it is stepped through, until it blocks
// all signals, and forks after each.
class forking_steps {
 public:
  static int go(background_thread& t) {
    stepped_ = &t;
    struct sigaction each = {};
    each.sa_sigaction = step;
    each.sa_flags = SA_SIGINFO;
    ::sigaction(SIGTRAP, &each, nullptr);
    seen s;
    s.may_end = true;
    set_trap_flag();
    const bool started = starts(t, s);
    if (!started) return 1;
    ends(t, s);
    return failed_ != 0 ? failed_ : forks_ < 50 ? 2 : 0;
  }

 private:
  static constexpr greg_t trap_flag = 0x100;
  static inline background_thread* stepped_;
  static inline int forks_, failed_;

  static void set_trap_flag() {
    asm volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
                     : "memory", "cc");
  }
  static void step(int, siginfo_t*, void* context) {
    auto& at = static_cast<ucontext_t*>(context)->uc_mcontext;
    std::uint16_t next;
    std::memcpy(&next, reinterpret_cast<const void*>(at.gregs[REG_RIP]), sizeof next);
    constexpr std::uint16_t syscall_instruction = 0x050f;
    if (failed_ != 0 || (next == syscall_instruction && at.gregs[REG_RAX] == SYS_rt_sigprocmask))
      at.gregs[REG_EFL] &= ~trap_flag;
    ++forks_;
    if (forked(start_own) != fine) failed_ = 3;
  }
  static int start_own() {
    stepped_->forget();
    seen own;
    if (!starts(*stepped_, own)) return 1;
    ends(*stepped_, own);
    return own.runs == 1 ? 0 : 2;
  }
};

TEST(background_thread, a_child_starts_its_own_wherever_another_thread_was_starting_one) {
  background_thread warm, t;  // the first has every function found that the second calls
  seen s;
  s.may_end = true;
  NEEDS_A_THREAD(warm, s);
  ends(warm, s);
  EXPECT_EQ(fine, forked([&] { return forking_steps::go(t); }));
}
#endif

}  // namespace
}  // namespace polder::os
