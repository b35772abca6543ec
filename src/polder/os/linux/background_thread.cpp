#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include <polder/base/align.hpp>
#include <polder/base/bits.hpp>
#include <polder/os/background_thread.hpp>
#include <polder/os/errno_keeper.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/timeline.hpp>

namespace polder::os {
namespace {

constexpr std::size_t stack_bytes = 64 * KiB;
// What the C library keeps of a thread lies around the thread pointer, and no more of it is looked at than this.
constexpr std::size_t thread_bytes = 16 * KiB;

// Sanitizers look up a thread's state, of which this one has none.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool is_possible = false;
#else
constexpr bool is_possible = true;
#endif

// Every signal, the C library's own too, between a thread and those it starts.
class without_signals {
 public:
  without_signals() noexcept { ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all_, &before_, sizeof all_); }
  ~without_signals() { ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_); }
  without_signals(const without_signals&) = delete;
  without_signals& operator=(const without_signals&) = delete;

 private:
  const std::uint64_t all_ = ~std::uint64_t{0};
  std::uint64_t before_ = 0;
};

std::uintptr_t thread_pointer() noexcept {
#if defined(__x86_64__)
  std::uintptr_t p;
  asm("mov %%fs:0, %0" : "=r"(p));
  return p;
#else
  return address(__builtin_thread_pointer());
#endif
}

}  // namespace

// A page that nothing may touch, the stack, and as much thread-local storage as reaches from the thread pointer to the
// variables that are used: their places are the same for all threads.
bool background_thread::map_once() noexcept {
  if (memory_ != nullptr) return true;
  const std::uintptr_t pointer = thread_pointer();
  std::uintptr_t low = pointer - thread_bytes, high = pointer + thread_bytes;
  for (const void* variable : {static_cast<const void*>(&errno), timeline::own_variables()}) {
    low = std::min(low, address(variable) - thread_bytes);
    high = std::max(high, address(variable) + thread_bytes);
  }
  const std::size_t page = std::size_t(::sysconf(_SC_PAGESIZE));
  const std::size_t below = page + align_up(stack_bytes, page);
  const std::size_t bytes = align_up(below + (high - low) + page, page);
  void* const p =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return false;
  static_cast<void>(::mprotect(p, page, PROT_NONE));
  // The thread pointer is as far into a page as here, so that whatever is aligned here is there.
  storage_at_ = below + (pointer - low);
  storage_at_ += (pointer - (address(p) + storage_at_)) & (page - 1);
  memory_ = static_cast<std::byte*>(p);
  auto* const self = reinterpret_cast<void**>(memory_ + storage_at_);
#if defined(__x86_64__)
  self[0] = self[2] = self;  // where the processor's ABI looks for the thread pointer's value
#else
  static_cast<void>(self);
#endif
  return true;
}

bool background_thread::start(void (*body)(void*), void* argument) noexcept {
  if (!is_possible || refused_.load(order::relaxed)) return false;
  std::uint32_t none = 0;
  if (!id_.cas(none, coming, order::acquire, order::relaxed)) return false;  // sync: background-start
  const errno_keeper keep;
  if (map_once()) {
    body_ = body;
    argument_ = argument;
    const without_signals meanwhile;
    // As the C library starts its own.
    constexpr int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD |
                          CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    std::byte* const stack = memory_ + ::sysconf(_SC_PAGESIZE) + stack_bytes;
    auto* const id = reinterpret_cast<pid_t*>(&id_);
    if (::clone(run, stack, flags, this, id, memory_ + storage_at_, id) >= 0) return true;
  }
  refused_.store(true, order::relaxed);
  id_.store(0, order::release);  // sync: background-start
  return false;
}

int background_thread::run(void* self) noexcept {
  auto& me = *static_cast<background_thread*>(self);
  ::syscall(SYS_prctl, PR_SET_NAME, "polder");
  me.body_(me.argument_);
  return 0;
}

void background_thread::sleep(std::uint32_t milliseconds) noexcept {
  const timespec t{time_t(milliseconds / 1000), long(milliseconds % 1000) * 1'000'000};
  ::syscall(SYS_nanosleep, &t, nullptr);
}

}  // namespace polder::os
