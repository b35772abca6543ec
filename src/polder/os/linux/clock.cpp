#include <polder/base/config.hpp>
#include <polder/os/clock.hpp>
#include <polder/os/clock_reader.hpp>
#include <polder/os/loaded_symbol.hpp>
#include <polder/os/system_call.hpp>

namespace polder::os {

constinit atomic<clock_reader*> clock_in_use{nullptr};

namespace {

#if defined(__aarch64__)
constexpr const char* name_in_vdso = "__kernel_clock_gettime";
#else
constexpr const char* name_in_vdso = "__vdso_clock_gettime";
#endif

int by_system_call(clockid_t of, timespec* into) { return int(system_call(SYS_clock_gettime, of, into)); }

POLDER_NOINLINE clock_reader* find_reader() noexcept {
  auto* found = reinterpret_cast<clock_reader*>(vdso_symbol(name_in_vdso));
  if (found == nullptr) found = by_system_call;
  clock_reader* before = nullptr;
  return clock_in_use.cas(before, found, order::relaxed, order::relaxed) ? found : before;
}

}  // namespace

// What the vDSO does not answer itself, it asks the kernel.
void read_clock(clockid_t of, timespec& into) noexcept {
  clock_reader* reader = clock_in_use.load(order::relaxed);
  if (reader == nullptr) [[unlikely]]
    reader = find_reader();
  into = {};
  reader(of, &into);
}

}  // namespace polder::os
