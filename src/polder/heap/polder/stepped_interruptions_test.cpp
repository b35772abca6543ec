// What a signal finds, at every instruction of an operation, when others claim the thread's LAB meanwhile: the handler may have to
// give that away, and the operation goes on with what it had read before.
#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>

#include <string>
#include <utility>
#include <vector>

#include <polder/heap/polder/served_test.hpp>
#include <polder/os/heavy_fence.hpp>
#include <polder/os/lacks_test.hpp>

namespace polder::heap {
namespace {

#if defined(__x86_64__)

// Runs `there` at the step-th instruction of f, in a signal handler. False: f has fewer.
class stepped {
 public:
  template <class F>
  static bool run(int step, F f, void (*there)()) {
    left_ = step;
    there_ = there;
    struct sigaction action = {}, before;
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO;
    if (::sigaction(SIGTRAP, &action, &before) != 0) return false;
    asm volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");  // the trap flag
    f();
    asm volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
    ::sigaction(SIGTRAP, &before, nullptr);
    return left_ <= 0;
  }

 private:
  static void on_trap(int, siginfo_t*, void* context) {
    left_ = left_ - 1;
    if (left_ != 0) return;
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~greg_t{0x100};
    there_();
  }
  static inline volatile int left_;
  static inline void (*there_)();
};

// Of which malloc serves one at once, one from its hot span all the same, and one from the shelf.
constexpr std::size_t sizes[] = {1024, 2048, 8 * KiB};

class stepped_operation : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why << ", which would be stepped through";
    if (!os::register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  }

  // Each of malloc, calloc and free, at every step of the fast path and what follows, in a heap of its own.
  static constexpr int most_steps = 300;
  template <class Check>
  void at_every_step(void (*there)(), Check check, bool exhausted = false) {
    for (const std::size_t n : sizes)
      for (const char what : {'m', 'c', 'f'}) at_every_step_of(n, what, there, check, exhausted);
  }
  template <class Check>
  void at_every_step_of(std::size_t n, char what, void (*there)(), Check check, bool exhausted) {
    size_ = n;
    int step = 1;
    for (bool reached = true; reached && step != most_steps; ++step) {
      served h;
      heap_ = &h;
      own_ = nullptr;
      h.in_a_thread([&] {
        // A span without a free block, and another with room, unless that one is the hot one still.
        full_.resize(mem::grain_size / size_);
        for (void*& p : full_) p = h.allocate(size_);
        void* const p = exhausted ? nullptr : h.allocate(size_);
        if (!exhausted && shelf::suits(mem::size_class::stepped::of(size_)))
          h.free(std::exchange(full_.back(), nullptr));  // to the shelf; of others the span would have one again
        spans_[0] = &h.span_of(full_[0]);
        spans_[1] = exhausted ? spans_[0] : &h.span_of(p);
        own_ = &h.own();
        given_ = false;
        void* q = nullptr;
        reached = stepped::run(
            step,
            [&] {
              switch (what) {
                case 'm': q = h.allocate(size_); break;
                case 'c': q = h.heap.allocate_zeroed(size_); break;
                default: h.free(full_[0]); break;
              }
            },
            there);
        check(h, std::string{what} + " of " + std::to_string(size_) + " at step " + std::to_string(step));
        h.free(q);
        h.free(p);
        for (void* b : full_)
          if (b != full_[0] || what != 'f') h.free(b);
      });
      h.heap.trim(0);
      ASSERT_EQ(0u, h.now().allocated) << what << " of " << size_ << " at step " << step;
    }
    EXPECT_GT(step, 20) << what;
  }

  static inline served* heap_;
  static inline lab* own_;
  static inline bool given_;  // the handler has found it claimed, and given it away
  static inline std::size_t size_;
  static inline std::vector<void*> full_;
  static inline mem::span* spans_[2];  // its and p's
  struct span_then {
    mem::block* free;
    std::uint32_t used;
    explicit span_then(const mem::span* s) : free(s->free), used(s->used) {}
    bool operator==(const span_then&) const = default;
  };
};

TEST_F(stepped_operation, whose_lab_a_handler_gives_away_does_not_work_in_it) {
  static std::vector<span_then> then;
  const auto claimed = [] {
    served& h = *heap_;
    then.clear();
    const bool held = own_->door.try_claim([] { return true; }) == claim::held;
    if (held) own_->turned_away_since.store(1, order::relaxed);  // long ago
    for (int i = 0; i != 100; ++i) h.free(h.allocate(size_));
    given_ = &h.own() != own_;
    if (!held || own_->door.end_claim()) return;
    own_->door.settle([] { return false; }, [] {});
    EXPECT_FALSE(own_->door.try_acquire(1)) << "another thread could have it";
    for (const mem::span* s : spans_) then.emplace_back(s);
  };
  int given = 0;
  at_every_step(+claimed, [&](served& h, const std::string& when) {
    given += given_;
    for (std::size_t i = 0; given_ && i != then.size(); ++i) EXPECT_EQ(then[i], span_then(spans_[i])) << when;
    EXPECT_FALSE(h.own().door.active()) << when;
    EXPECT_FALSE(test_host::nobody<lab>.door.active()) << when;
  });
  EXPECT_GT(given, 10);
}

// Full: no free block; its word says so, and it is on no list.
void expect_full_ones_to_be_full(served& h, const std::vector<void*>& blocks, const std::string& when) {
  for (const void* p : blocks) EXPECT_FALSE(mem::word::is_full(h.word_of(p)) && h.span_of(p).has_free()) << when;
}

TEST_F(stepped_operation, whose_lab_is_swept_meanwhile_finds_its_spans_as_that_left_them) {
  const auto trimmed = [] { heap_->in_a_thread([] { heap_->heap.trim(0); }); };
  at_every_step(+trimmed, [&](served& h, const std::string& when) {
    EXPECT_EQ(own_, &h.own()) << when;
    EXPECT_FALSE(h.own().door.active()) << when;
    expect_full_ones_to_be_full(h, {full_[0], full_[1]}, when);
  });
}

TEST_F(stepped_operation, whose_hot_span_a_handler_replaces_does_not_take_it_for_hot) {
  static void* handlers;
  const auto refilled = [] { handlers = heap_->allocate(size_); };
  const auto check = [&](served& h, const std::string& when) {
    expect_full_ones_to_be_full(h, {full_[0], full_[1]}, when);
    h.free(std::exchange(handlers, nullptr));
  };
  at_every_step(+refilled, check, true);
}

#endif

}  // namespace
}  // namespace polder::heap
