#pragma once
// in_use — a heap in use by a test: an instance of its own over a host of the test's own, beside the malloc of the program.
#include <cstdlib>
#include <thread>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/heap/options.hpp>
#include <polder/heap/statistics.hpp>
#include <polder/os/pages.hpp>

namespace polder::heap {

struct test_host {
  template <class Lab>
  static inline constinit Lab nobody{};
  template <class Lab>
  static inline thread_local Lab* lab_of_thread = &nobody<Lab>;

  template <class Lab>
  static Lab*& current_lab() noexcept {
    if (interruption != nullptr) [[unlikely]]
      std::exchange(interruption, nullptr)();
    return lab_of_thread<Lab>;
  }
  static bool may_settle() noexcept { return !gone; }
  static const options& configured() noexcept { return asked; }
  static bool watch_thread_exit() noexcept { return watched; }
  static void installed() noexcept { ++installations; }
  template <class Lab>
  static void about_to_borrow(Lab& l) noexcept {
    if (on_borrowing<Lab> != nullptr) std::exchange(on_borrowing<Lab>, nullptr)(l);
  }

  static inline options asked;
  static inline int installations = 0;
  static inline bool watched = true;
  static inline thread_local bool gone = false;
  // Runs when the heap next looks which LAB or cache the thread has: a signal that arrives there.
  static inline thread_local void (*interruption)() = nullptr;
  // Runs when the thread next borrows a LAB: what another thread does to it meanwhile.
  template <class Lab>
  static inline thread_local void (*on_borrowing)(Lab&) = nullptr;
};

// Bytes of the pages that heaps work with whose test does not say it: POLDER_TEST_PAGE_SIZE, and without it the system's.
inline std::size_t page_of_tests() {
  static const char* const text = std::getenv("POLDER_TEST_PAGE_SIZE");
  static const std::size_t asked = text ? std::strtoul(text, nullptr, 10) : 0;
  return asked > os::page_size() ? asked : os::page_size();
}

// Heap: over test_host; Lab: what a thread has of it.
template <class Heap, class Lab>
class in_use {
 public:
  explicit in_use(const options& o) {
    test_host::asked = o;
    if (o.page_size == 0) test_host::asked.page_size = page_of_tests();
    test_host::installations = 0;
    test_host::lab_of_thread<Lab> = &test_host::nobody<Lab>;
    current_ = this;
  }
  ~in_use() {
    it.leave_thread();
    it.trim(0);
    it.leave_thread();
    validate();
  }
  // Where the build looks at structures. Nobody is inside, and no thread of the heap's own.
  void validate() {
    if constexpr (requires { it.validate(); }) it.validate();
  }

  // Not inlined: with a constant size g++ indexes past the table that the flagship's door guards, and says so.
  POLDER_NOINLINE void* allocate(std::size_t n) { return it.template allocate_or<&in_use::missed>(n); }
  void free(void* p) { it.deallocate(p); }

  // A thread that gives up at its end what it has of the heap, as the C face sees to.
  template <class F>
  std::thread thread(F f) {
    return std::thread([this, f = std::move(f)]() mutable {
      f();
      it.leave_thread();
    });
  }
  template <class F>
  void in_a_thread(F f) {
    thread(std::move(f)).join();
  }

  // Of several: this one from now on, by a thread that has `own` of it.
  void use(Lab* own) {
    current_ = this;
    test_host::lab_of_thread<Lab> = own;
  }
  Lab*& own() { return test_host::lab_of_thread<Lab>; }
  statistics now() { return it.read_statistics(); }

  Heap it;

 private:
  static void* missed(std::size_t n, bool inside) { return current_->it.allocate_missed(n, inside); }
  static inline in_use* current_;
};

}  // namespace polder::heap
