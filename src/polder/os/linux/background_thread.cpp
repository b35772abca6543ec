#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#include <algorithm>
#include <string_view>

#include <polder/base/align.hpp>
#include <polder/base/bits.hpp>
#include <polder/os/background_thread.hpp>
#include <polder/os/errno_keeper.hpp>
#include <polder/os/linux/without_signals.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/system_call.hpp>
#include <polder/os/timeline.hpp>

namespace polder::os {
namespace {

constexpr std::size_t stack_bytes = 64 * KiB;
// What the C library keeps of a thread lies around the thread pointer, and no more of it is looked at than this.
constexpr std::size_t thread_bytes = 16 * KiB;

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
  if (memory_ != nullptr) return clear_storage(), true;
  const std::uintptr_t pointer = thread_pointer();
  std::uintptr_t low = pointer - thread_bytes, high = pointer + thread_bytes;
  for (const void* variable : {static_cast<const void*>(&errno), timeline::own_variables()}) {
    low = std::min(low, address(variable) - thread_bytes);
    high = std::max(high, address(variable) + thread_bytes);
  }
  const std::size_t page = page_size();
  const std::size_t below = page + align_up(stack_bytes, page);
  const std::size_t bytes = align_up(below + (high - low) + page, page);
  auto* const p = static_cast<std::byte*>(reserve(bytes));
  if (p == nullptr) return false;
  if (!commit(p + page, bytes - page)) return static_cast<void>(unmap(p, bytes)), false;
  // The thread pointer is as far into a page as here, so that whatever is aligned here is there.
  storage_at_ = below + (pointer - low);
  storage_at_ += (pointer - (address(p) + storage_at_)) & (page - 1);
  storage_begin_ = below;
  bytes_ = bytes;
  // Last: another thread may fork at any moment, and the child takes what is there for whole.
  signal_fence();
  memory_ = p;
  return true;
}

// The variables of the one before, which is gone: the kernel says so when it has left its memory for good. Of those that a recording
// has, another thread may own what they point to.
void background_thread::clear_storage() noexcept {
  std::byte* const from = memory_ + storage_begin_;
  const std::size_t bytes = bytes_ - storage_begin_;
  std::byte& mark = memory_[storage_at_];  // emulators say yes and do nothing
  mark = std::byte{1};
  if (discard_now(from, bytes) != discarded::zeroed || mark != std::byte{}) __builtin_memset(from, 0, bytes);
}

// Where the processor's ABI looks for the thread pointer's value.
void background_thread::point_at_itself() noexcept {
#if defined(__x86_64__)
  auto* const self = reinterpret_cast<void**>(memory_ + storage_at_);
  self[0] = self[2] = self;
#endif
}

bool background_thread::start(void (*body)(void*), void* argument) noexcept {
  if (refusal() != 0) return false;
  if (!id_.begin()) return false;
  const errno_keeper keep;
  int why = ENOMEM;
  if (map_once()) {
    point_at_itself();
    body_ = body;
    argument_ = argument;
    const without_signals meanwhile;
    // As the C library starts its own.
    constexpr int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD |
                          CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    std::byte* const stack = memory_ + page_size() + stack_bytes;
    auto* const id = reinterpret_cast<pid_t*>(&id_.for_kernel());
    why = meanwhile.refused();  // a program's handler on a thread that is none of the C library's would not live
    if (why == 0 && ::clone(run, stack, flags, this, id, memory_ + storage_at_, id) >= 0) return true;
    if (why == 0) why = errno;
  }
  refusal_.store(why, order::relaxed);
  id_.refused();
  return false;
}

int background_thread::run(void* self) noexcept {
  auto& me = *static_cast<background_thread*>(self);
  system_call(SYS_prctl, PR_SET_NAME, "polder");
  me.body_(me.argument_);
  return 0;
}

namespace {

// What /proc tells of a thread's users, groups and capabilities; empty if it does not.
struct rights {
  char text[4096];
  std::string_view told;

  explicit rights(const char* file) noexcept {
    const long fd = system_call(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    std::size_t n = 0;
    for (long got; n != sizeof text && (got = system_call(SYS_read, fd, text + n, sizeof text - n)) > 0;)
      n += std::size_t(got);
    system_call(SYS_close, fd);
    const std::string_view all{text, n};
    const std::size_t users = all.find("\nUid:"), users_end = all.find("\nNStgid:");
    const std::size_t capabilities = all.find("\nCapInh:"), end = all.find("\nNoNewPrivs:");
    if (users >= users_end || users_end >= capabilities || capabilities >= end || end == all.npos) return;
    // One behind the other: what lies between them differs from thread to thread.
    char* const to = std::copy(text + users, text + users_end, text);
    told = {text, std::size_t(std::copy(text + capabilities, text + end, to) - text)};
  }
};

// Of the calling thread. True, too, where this cannot be known.
bool has_capabilities() noexcept {
  __user_cap_header_struct of{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct half[_LINUX_CAPABILITY_U32S_3] = {};
  return system_call(SYS_capget, &of, half) != 0 || (half[0].permitted | half[1].permitted) != 0;
}

// By its users; what systemd's AmbientCapabilities= gives is seen by none of the two.
bool began_as_root() noexcept { return ::getauxval(AT_EUID) == 0 || ::getauxval(AT_SECURE) != 0; }

}  // namespace

bool background_thread::shares_rights() noexcept {
  if (!began_as_root() && !has_capabilities()) return true;
  const rights own("/proc/thread-self/status"), others("/proc/self/status");
  return !own.told.empty() && own.told == others.told;
}

}  // namespace polder::os
