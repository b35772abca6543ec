#pragma once
// served — a heap in use by a test: its own instance over a host of the test's own, beside the malloc of the program.
#include <thread>
#include <utility>

#include <polder/base/bits.hpp>
#include <polder/heap/polder/polder_heap.hpp>

namespace polder::heap {

class test_host {
 public:
  template <class Lab>
  static inline constinit Lab nobody{};

  template <class Lab>
  static Lab*& current_lab() noexcept {
    if (interruption != nullptr) [[unlikely]]
      std::exchange(interruption, nullptr)();
    return lab_;
  }
  static bool may_settle() noexcept { return !gone; }
  static const options& configured() noexcept { return asked; }
  static bool watch_thread_exit() noexcept { return watched; }
  static void installed() noexcept { ++installations; }

  static inline options asked;
  static inline int installations = 0;
  static inline bool watched = true;
  static inline thread_local bool gone = false;
  // Runs when the heap next looks which LAB the thread has: a signal that arrives there.
  static inline thread_local void (*interruption)() = nullptr;

 private:
  friend class served;
  static inline thread_local lab* lab_ = &nobody<lab>;
};

class served {
 public:
  // So much that no test comes near it, and so little that many fit.
  static constexpr options usual{.arena_size = GiB, .decay_ms = 1'000'000};

  explicit served(const options& o = usual) {
    test_host::asked = o;
    test_host::installations = 0;
    test_host::lab_ = &test_host::nobody<lab>;
    current_ = this;
  }
  ~served() {
    heap.leave_thread();
    heap.trim(0);
    heap.leave_thread();
  }

  // Not inlined: with a constant size g++ indexes past the table that the door's limit guards, and says so.
  POLDER_NOINLINE void* allocate(std::size_t n) { return heap.allocate_or<&served::missed>(n); }
  void free(void* p) { heap.deallocate(p); }

  // A thread that gives its LAB up at its end, as the C face sees to.
  template <class F>
  std::thread thread(F f) {
    return std::thread([this, f = std::move(f)]() mutable {
      f();
      heap.leave_thread();
    });
  }
  template <class F>
  void in_a_thread(F f) {
    thread(std::move(f)).join();
  }

  // ---- what the tables say
  lab& own() { return *test_host::lab_; }
  mem::grain grain_of(const void* p) { return mem::grain((address(p) - address(own().base)) >> mem::grain_shift); }
  std::uint32_t word_of(const void* p) { return own().words[grain_of(p)].load(order::relaxed); }
  mem::lab_number owner_of(const void* p) { return mem::word::owner(word_of(p)); }
  mem::span& span_of(const void* p) { return own().spans[grain_of(p)]; }
  statistics now() { return heap.read_statistics(); }

  polder_heap<test_host> heap;

 private:
  static void* missed(std::size_t n, bool inside) { return current_->heap.allocate_missed(n, inside); }
  static inline served* current_;
};

}  // namespace polder::heap
