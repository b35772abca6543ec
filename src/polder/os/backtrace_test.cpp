#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include <polder/base/align.hpp>
#include <polder/os/answered_test.hpp>
#include <polder/os/backtrace.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/readable_memory.hpp>

namespace polder::os {
namespace {

using trace = std::vector<void*>;

constexpr unsigned plenty = 1024;

// A signal's handler calls these, so they keep their traces where nothing has to be allocated.
struct kept_trace {
  std::array<void*, plenty> frames;
  unsigned count = 0;
  trace whole() const { return trace(frames.begin(), frames.begin() + count); }
};

// Keeps the compiler from leaving a function before its last call.
#define NO_TAIL_CALL() asm volatile("" ::: "memory")

POLDER_NOINLINE void take(kept_trace& into) {
  into.count = backtrace(into.frames.data(), plenty, 0);
  NO_TAIL_CALL();
}

// What this one and the C library's say of the same place. A sanitizer that stands in between has frames of its own there.
struct pair_of_traces {
  kept_trace ours;
  kept_trace theirs;
  bool agree() const {
    const auto end = theirs.frames.begin() + theirs.count;
    const auto from = std::find(theirs.frames.begin(), end, ours.frames[0]);
    return ours.count > 1 && std::equal(from, end, ours.frames.begin(), ours.frames.begin() + ours.count);
  }
};

POLDER_NOINLINE void take_both(pair_of_traces& into) {
  into.ours.count = backtrace(into.ours.frames.data(), plenty, 0);
  into.theirs.count = unsigned(::backtrace(into.theirs.frames.data(), plenty));
  NO_TAIL_CALL();
}

void expect_agreement(const pair_of_traces& p) {
  EXPECT_TRUE(p.agree()) << testing::PrintToString(p.ours.whole()) << '\n'
                         << testing::PrintToString(p.theirs.whole());
}

// Each function of a chain notes where it returns to, innermost last. That is what a trace has to say of them.
trace calls;

#define NOTE_CALL() calls.push_back(__builtin_extract_return_addr(__builtin_return_address(0)))

// The return addresses of the chain, one after the other from the innermost on, somewhere in the trace.
bool has_calls(const trace& t) {
  return !calls.empty() && std::search(t.begin(), t.end(), calls.rbegin(), calls.rend()) != t.end();
}

template <int n>
POLDER_NOINLINE void descend(const std::function<void()>& f) {
  NOTE_CALL();
  if constexpr (n == 0) {
    f();
  } else {
    descend<n - 1>(f);
  }
  NO_TAIL_CALL();
}

class backtraces : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    prepare_backtraces();
    void* frame;
    ::backtrace(&frame, 1);  // which loads a library, the first time
  }
  backtraces() { calls.clear(); }

  kept_trace seen;
  pair_of_traces both;
};

POLDER_NOINLINE void innermost(kept_trace& seen) {
  NOTE_CALL();
  take(seen);
  NO_TAIL_CALL();
}

POLDER_NOINLINE void middle(kept_trace& seen) {
  NOTE_CALL();
  innermost(seen);
  NO_TAIL_CALL();
}

POLDER_NOINLINE void outermost(kept_trace& seen) {
  NOTE_CALL();
  middle(seen);
  NO_TAIL_CALL();
}

TEST_F(backtraces, are_exactly_the_calls) {
  errno = 77;
  outermost(seen);
  EXPECT_EQ(errno, 77);
  ASSERT_GE(seen.count, 4u);
  const trace without_take(seen.frames.begin() + 1, seen.frames.begin() + 4);
  EXPECT_EQ(without_take, (trace{calls[2], calls[1], calls[0]}));
}

TEST_F(backtraces, say_the_same_as_the_c_library) {
  descend<20>([&] { take_both(both); });
  expect_agreement(both);
  EXPECT_TRUE(has_calls(both.ours.whole()));
}

// Frames of many lengths and kinds, over some pages.
template <bool is_aligned>
POLDER_NOINLINE void deep(unsigned depth, pair_of_traces& into) {
  alignas(is_aligned ? 128 : 16) volatile std::uintptr_t room[3] = {depth};
  auto* const varying = static_cast<volatile char*>(alloca(1 + depth % 7 * 100));
  varying[0] = 0;
  if (depth == 0) {
    take_both(into);
  } else {
    deep<!is_aligned>(depth - 1, into);
  }
  varying[0] = char(room[0]);
}

TEST_F(backtraces, of_a_deep_stack) {
  deep<true>(500, both);
  expect_agreement(both);
  EXPECT_GT(both.ours.count, 500u);
}

#if defined(__GNUC__) && !defined(__clang__)
__attribute__((noinline, optimize("O2", "omit-frame-pointer")))
#else
POLDER_NOINLINE
#endif
void without_frame_pointer(unsigned n, const std::function<void()>& f) {
  NOTE_CALL();
  alignas(64) volatile char aligned[64];
  auto* const varying = static_cast<volatile char*>(alloca(n));
  varying[n - 1] = 0;
  aligned[0] = varying[n - 1];
  f();
  varying[0] = aligned[0];
}

TEST_F(backtraces, through_functions_with_frames_of_unknown_length) {
  for (const unsigned n : {1u, 100u, 10'000u}) {
    calls.clear();
    without_frame_pointer(n, [&] { descend<1>([&] { take_both(both); }); });
    expect_agreement(both);
    EXPECT_EQ(std::count(both.ours.frames.begin(), both.ours.frames.begin() + both.ours.count, calls[0]), 1);
  }
}

TEST_F(backtraces, through_a_function_of_the_c_library) {
  static pair_of_traces* to;
  static trace* outer;
  trace before;
  outer = &before;
  to = &both;
  descend<2>([] {
    *outer = calls;
    calls.clear();
    int numbers[] = {3, 1, 2};
    std::qsort(numbers, 3, sizeof *numbers, [](const void* a, const void* b) {
      take_both(*to);
      return *static_cast<const int*>(a) - *static_cast<const int*>(b);
    });
  });
  expect_agreement(both);
  calls = before;
  EXPECT_TRUE(has_calls(both.ours.whole())) << "beyond qsort";
}

TEST_F(backtraces, of_a_thread_end_where_it_begins) {
  std::thread([&] { descend<3>([&] { take_both(both); }); }).join();
  expect_agreement(both);
  EXPECT_TRUE(has_calls(both.ours.whole()));
  EXPECT_LT(both.ours.count, 40u);
}

TEST_F(backtraces, from_a_destructor_while_an_exception_passes) {
  struct takes {
    pair_of_traces& into;
    ~takes() { take_both(into); }
  };
  bool was_caught = false;
  descend<2>([&] {
    try {
      const takes t{both};
      descend<2>([] { throw 7; });
    } catch (int) {
      was_caught = true;
    }
  });
  EXPECT_TRUE(was_caught);
  expect_agreement(both);
  calls.resize(3);  // those that are left again by then are not in it
  EXPECT_TRUE(has_calls(both.ours.whole()));
}

// ---- limits --------------------------------------------------------------------------------------------------------

TEST_F(backtraces, have_no_more_frames_than_asked_for) {
  static const auto sentinel = reinterpret_cast<void*>(std::uintptr_t{0x5e5e});
  struct ask {
    unsigned most, skip;
  };
  std::vector<ask> asks{{64, 0}, {64, ~0u}, {64, ~0u - 1}};
  for (unsigned most = 0; most < 64; ++most) {
    for (unsigned skip = 0; skip < 64; skip += 3) asks.push_back({most, skip});
  }
  std::array<void*, 64> all, some;
  descend<5>([&] {
    unsigned whole = 0;
    for (const ask& a : asks) {  // the first of them for all
      some.fill(sentinel);
      const unsigned count = backtrace(some.data(), a.most, a.skip);
      if (&a == asks.data()) all = some, whole = count;
      ASSERT_EQ(count, std::min(a.most, a.skip < whole ? whole - a.skip : 0)) << a.most << ' ' << a.skip;
      ASSERT_TRUE(std::equal(some.begin(), some.begin() + count, all.begin() + std::min(a.skip, 64u)));
      ASSERT_TRUE(std::all_of(some.begin() + count, some.end(), [](void* f) { return f == sentinel; }));
    }
  });
  EXPECT_TRUE(has_calls(trace(all.begin(), all.end())));
}

// ---- signals -------------------------------------------------------------------------------------------------------

pair_of_traces in_handler;

class handled_signal {
 public:
  handled_signal(int number, void (*handler)(int), int flags) : number_(number) {
    struct sigaction wanted {};
    wanted.sa_handler = handler;
    wanted.sa_flags = flags;
    ::sigaction(number, &wanted, &before_);
  }
  ~handled_signal() { ::sigaction(number_, &before_, nullptr); }

 private:
  int number_;
  struct sigaction before_;
};

TEST_F(backtraces, lead_through_a_signal_handler) {
  const handled_signal handled{SIGUSR1, [](int) { take_both(in_handler); }, 0};
  descend<4>([] { std::raise(SIGUSR1); });
  expect_agreement(in_handler);
  EXPECT_TRUE(has_calls(in_handler.ours.whole()));
}

TEST_F(backtraces, lead_from_one_stack_to_another) {
  // The signal's stack lies above or below the thread's: both happen, since one is mapped and one is a variable's.
  std::vector<char> below(1 << 16);
  alignas(16) static char above[1 << 16];
  for (void* const where : {static_cast<void*>(below.data()), static_cast<void*>(above)}) {
    calls.clear();
    std::thread([&] {
      stack_t signal_stack{}, before;
      signal_stack.ss_sp = where;
      signal_stack.ss_size = 1 << 16;
      ASSERT_EQ(::sigaltstack(&signal_stack, &before), 0);
      const handled_signal handled{SIGUSR1, [](int) { take_both(in_handler); }, SA_ONSTACK};
      descend<4>([] { std::raise(SIGUSR1); });
      ::sigaltstack(&before, nullptr);
    }).join();
    expect_agreement(in_handler);
    EXPECT_TRUE(has_calls(in_handler.ours.whole()));
  }
}

#if defined(__x86_64__)
// After each instruction of a stretch of code comes a signal: in prologues and epilogues, in the procedure linkage table, in
// the dynamic linker while it binds a function, in hand-written assembly.
constexpr unsigned long trap_flag = 0x100;
unsigned steps, disagreements;
volatile bool is_watched;

void step(int) {
  if (!is_watched) return;  // the flag is about to change, on a stack of its own making
  take_both(in_handler);
  ++steps;
  disagreements += !in_handler.agree();
}

POLDER_NOINLINE int compare(const void* a, const void* b) {
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

TEST_F(backtraces, from_every_instruction) {
  const handled_signal handled{SIGTRAP, step, 0};
  steps = disagreements = 0;
  int numbers[] = {5, 2, 4, 1, 3, 9, 7};
  char text[64];
  volatile double converted = 0;
  asm volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(trap_flag) : "memory", "cc");
  is_watched = true;
  std::qsort(numbers, 7, sizeof *numbers, compare);
  std::snprintf(text, sizeof text, "%d %s", numbers[0], "and text");
  converted = std::strtod("1.5", nullptr);
  std::string(100, 'x').append(text);
  is_watched = false;
  asm volatile("pushfq; andq %0, (%%rsp); popfq" ::"i"(~trap_flag) : "memory", "cc");
  EXPECT_EQ(converted, 1.5);
  if (steps == 0) GTEST_SKIP() << "no single steps here";
  EXPECT_GT(steps, 1000u);
  EXPECT_EQ(disagreements, 0u) << "of " << steps;
  RecordProperty("steps", int(steps));
}
#endif

// ---- a stack that is not as it should be ---------------------------------------------------------------------------

activation activation_of(const ucontext_t& c) {
  activation a;
#if defined(__x86_64__)
  const auto& r = c.uc_mcontext.gregs;
  const int by_number[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                           REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  for (unsigned i = 0; i < machine::registers; ++i) a.value[i] = std::uintptr_t(r[by_number[i]]);
  a.pc = a.value[16];
#elif defined(__aarch64__)
  for (unsigned i = 0; i < 31; ++i) a.value[i] = c.uc_mcontext.regs[i];
  a.value[31] = c.uc_mcontext.sp;
  a.pc = c.uc_mcontext.pc;
#endif
  return a;  // getcontext is a call
}

// The words of the stack from the caller's on, in another place. What points into the stack points into the copy then.
class copied_stack {
 public:
  explicit copied_stack(const activation& of) : from(of), beneath(of.sp()) {
    readable_memory stack;
    for (std::size_t i = 0; i < words.size() && stack.word(beneath + i * 8, words[i]); ++i) count = i + 1;
    for (std::size_t i = 0; i < count; ++i) words[i] = moved(words[i]);
    for (std::uintptr_t& value : from.value) value = moved(value);
  }

  std::uintptr_t moved(std::uintptr_t value) const {
    return value - beneath < count * 8 ? value - beneath + address(words.data()) : value;
  }

  activation from;
  std::uintptr_t beneath;
  std::size_t count = 0;
  alignas(128) std::array<std::uintptr_t, 2048> words;
};

POLDER_NOINLINE void copy_stack(const std::function<void(copied_stack&)>& f) {
  ucontext_t context;
  ::getcontext(&context);
  const auto copy = std::make_unique<copied_stack>(activation_of(context));
  f(*copy);
}

trace trace_of(const copied_stack& s) {
  kept_trace t;
  t.count = backtrace_from(s.from, t.frames.data(), plenty, 0);
  return t.whole();
}

TEST_F(backtraces, a_wrong_return_address_ends) {
  descend<3>([] {
    copy_stack([](copied_stack& s) {
      const trace right = trace_of(s);
      ASSERT_TRUE(has_calls(right));
      const auto words = s.words;
      std::vector<std::uintptr_t> heap(8);
      for (std::size_t i = 1; i < right.size(); ++i) {
        for (const std::uintptr_t wrong :
             {std::uintptr_t{0}, std::uintptr_t{1}, std::uintptr_t{0xdead'beef'dead'beef}, ~std::uintptr_t{0},
              std::uintptr_t{1} << 62, address(heap.data()), address(&s)}) {
          std::replace(s.words.begin(), s.words.begin() + s.count, address(right[i]), wrong);
          EXPECT_EQ(trace_of(s), trace(right.begin(), right.begin() + i)) << wrong;
          s.words = words;
        }
      }
    });
  });
}

TEST_F(backtraces, however_wrong_a_stack_is_they_end) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random{seed};
  descend<8>([&] {
    copy_stack([&](copied_stack& s) {
      const trace right = trace_of(s);
      unsigned different = 0;
      for (int round = 0; round < 5000; ++round) {
        const auto words = s.words;
        const auto from = s.from;
        const auto any = [&]() -> std::uintptr_t {
          switch (random() % 6) {
            case 0: return random();
            case 1: return random() & 0x7fff'ffff'ffff;
            case 2: return address(s.words.data()) + random() % (s.count * 8);
            case 3: return address(s.words.data()) + (random() % s.count) * 8;
            case 4: return address(right[random() % right.size()]) + random() % 3 - 1;
            default: return s.words[random() % s.count];
          }
        };
        for (unsigned i = 0; i < 1 + random() % 20; ++i) s.words[random() % s.count] = any();
        if (random() % 4 == 0) s.from.value[random() % machine::registers] = any();
        if (random() % 8 == 0) s.from.pc = any();
        different += trace_of(s) != right;
        s.words = words;
        s.from = from;
      }
      EXPECT_GT(different, 100u);
      EXPECT_EQ(trace_of(s), right);
    });
  });
}

// The stack is readable up to its end and no further.
TEST_F(backtraces, what_lies_above_the_stack_is_not_read) {
  descend<3>([] {
    copy_stack([](copied_stack& s) {
      const std::size_t page = page_size();
      const std::uintptr_t base =
          address(::mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      ::mprotect(at_address(base + 2 * page), page, PROT_NONE);
      const trace right = trace_of(s);
      std::size_t least = right.size();
      for (std::size_t kept = 2; kept < 200 && kept < s.count; kept += 2) {
        // So many words of it before the end; what pointed into the copy points into this one.
        const std::uintptr_t low = base + 2 * page - kept * 8;
        const auto moved = [&](std::uintptr_t v) {
          return v - address(s.words.data()) < s.count * 8 ? v - address(s.words.data()) + low : v;
        };
        for (std::size_t i = 0; i < kept; ++i) reinterpret_cast<std::uintptr_t*>(low)[i] = moved(s.words[i]);
        activation from = s.from;
        for (std::uintptr_t& value : from.value) value = moved(value);
        std::array<void*, 64> frames;
        const unsigned count = backtrace_from(from, frames.data(), 64, 0);
        ASSERT_GE(count, 1u);
        ASSERT_TRUE(
            std::equal(frames.begin(), frames.begin() + std::min<std::size_t>(count, right.size()), right.begin()));
        least = std::min<std::size_t>(least, count);
      }
      EXPECT_LT(least, 3u);
      ::munmap(at_address(base), 3 * page);
    });
  });
}

TEST_F(backtraces, where_a_filter_refuses_to_say_what_can_be_read_they_are_short) {
  if (const char* why = lacks_filters()) GTEST_SKIP() << why;
  deep<true>(500, both);
  EXPECT_EQ(fine, forked([&] {
              if (!answer(SYS_rt_sigprocmask, EPERM)) return 1;
              pair_of_traces after;
              deep<true>(500, after);
              return after.ours.count < both.ours.count ? 0 : 2;
            }));
}

// ---- libraries that come and go --------------------------------------------------------------------------------------

TEST_F(backtraces, while_libraries_come_and_go) {
  const char* const library = "libBrokenLocale.so.1";  // part of glibc, and needed by nobody
  void* const first = ::dlopen(library, RTLD_NOW);
  if (first == nullptr) GTEST_SKIP() << ::dlerror();
  ::dlclose(first);
  std::atomic<bool> enough{false};
  std::atomic<unsigned> loads{0};
  std::thread storm([&] {
    while (!enough.load()) {
      ::dlclose(::dlopen(library, RTLD_NOW));
      ++loads;
    }
  });
  std::array<void*, 64> expected, found;
  descend<8>([&] {
    unsigned whole = 0;
    for (unsigned i = 0; i < 20'000 || loads.load() < 100; ++i) {
      const unsigned count = backtrace(found.data(), 64, 0);
      if (i == 0) expected = found, whole = count;
      ASSERT_EQ(count, whole) << i;
      ASSERT_TRUE(std::equal(found.begin(), found.begin() + count, expected.begin())) << i;
    }
  });
  enough.store(true);
  storm.join();
  EXPECT_TRUE(has_calls(trace(expected.begin(), expected.end())));
}

// ---- without the C library's help ------------------------------------------------------------------------------------

// Records as functions with frame pointers leave them.
TEST_F(backtraces, by_frame_pointers) {
  struct record {
    const void* next;
    const void* returns_to;
  };
  alignas(16) std::array<record, 6> stack;
  const auto to = [](std::uintptr_t pc) { return at_address(pc); };
  for (std::size_t i = 0; i < stack.size(); ++i) stack[i] = {&stack[i] + 1, to(100 + i)};
  stack[5].next = nullptr;
  const auto from = [&](unsigned most, unsigned skip) {
    std::array<void*, 10> frames;
    const unsigned count = backtrace_by_frame_pointers(&stack[0], frames.data(), most, skip);
    return trace(frames.begin(), frames.begin() + count);
  };
  EXPECT_EQ(from(10, 0), (trace{to(100), to(101), to(102), to(103), to(104), to(105)}));
  EXPECT_EQ(from(2, 3), (trace{to(103), to(104)}));
  EXPECT_EQ(from(0, 0), trace{});
  EXPECT_EQ(from(10, 6), trace{});
  for (const void* const wrong :
       {static_cast<const void*>(&stack[1]), static_cast<const void*>(&stack[0]),
        static_cast<const void*>(to(address(&stack[2]) + 4)), static_cast<const void*>(to(~std::uintptr_t{7})),
        static_cast<const void*>(to(std::uintptr_t{1} << 62))}) {
    stack[1].next = wrong;
    EXPECT_EQ(from(10, 0), (trace{to(100), to(101)}));
  }
  stack[1].next = &stack[2];
  stack[2].returns_to = nullptr;
  EXPECT_EQ(from(10, 0), (trace{to(100), to(101)}));
}

}  // namespace
}  // namespace polder::os
