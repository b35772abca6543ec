#include <polder/base/align.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/readable_memory.hpp>
#include <polder/os/system_call.hpp>

#include <cerrno>

namespace polder::os {
namespace {

// The kernel reads a set of signals before it looks at what is to be done with it, and there is nothing that -1 stands for: so
// it says EINVAL where it could read, EFAULT where not. At page 0 there would be no set, and it says yes. Every program's
// filter allows the call.
bool can_be_read_whatever_it_holds(std::uintptr_t page) noexcept {
  return system_call(SYS_rt_sigprocmask, -1, page, nullptr, 8) == -EINVAL;
}

// Between a frame's variables lie the red zones of AddressSanitizer, and what a callee wrote there ThreadSanitizer may not
// have seen: neither is to look at these reads.
__attribute__((noinline, no_sanitize("address", "thread"))) std::uintptr_t word_at(std::uintptr_t at) noexcept {
  return *reinterpret_cast<const volatile std::uintptr_t*>(at);
}

}  // namespace

readable_memory::readable_memory() noexcept
    : page_(page_size()), from_(align_down(address(this), page_)), to_(from_ + page_) {}

bool readable_memory::word(std::uintptr_t at, std::uintptr_t& value) noexcept {
  if (!is_aligned(at, sizeof(std::uintptr_t))) return false;
  if (at - from_ >= to_ - from_ && !open(at)) return false;
  value = word_at(at);
  return true;
}

bool readable_memory::open(std::uintptr_t at) noexcept {
  const std::uintptr_t page = align_down(at, page_);
  if (!can_be_read_whatever_it_holds(page)) return false;
  if (page != to_) from_ = page;
  to_ = page + page_;
  return true;
}

}  // namespace polder::os
