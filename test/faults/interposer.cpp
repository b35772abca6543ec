// interposer — mmap, munmap, mprotect, madvise, mremap and getrandom as the program defines them: the dynamic linker finds
// these before libc's, so a preloaded heap calls them from its first breath. membarrier, which it asks of the kernel itself,
// is not met here.
//
// The environment arms it before main: POLDER_FAULTS="CALL:FIRST:LAST:ERRNO,…" with a call's number in plan.hpp's list,
// ERRNO -1 for "say yes and do nothing", and POLDER_NARROW=BITS for a machine of that many address bits.
#include <sys/mman.h>
#include <unistd.h>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <polder/os/system_call.hpp>

#include "plan.hpp"

using namespace polder::faults;
using polder::os::system_call;

extern "C" char** environ;

namespace {

constinit std::atomic<bool> environment_read{false};

const char* setting(const char* name) {
  auto length = std::strlen(name);
  for (char** e = environ; *e; e++) {
    if (std::strncmp(*e, name, length) == 0 && (*e)[length] == '=') return *e + length + 1;
  }
  return nullptr;
}

// Calls before libc has an environment go through as they are.
void read_environment() {
  if (environment_read.load(std::memory_order_acquire) || !environ) return;
  if (environment_read.exchange(true, std::memory_order_acq_rel)) return;
  if (const char* bits = setting("POLDER_NARROW")) {
    auto width = std::strtoul(bits, nullptr, 10);
    narrow_next.store(1ul << (width - 3));
    narrow_end.store(1ul << width);
  }
  const char* text = setting("POLDER_FAULTS");
  while (text && *text) {
    char* end;
    long number[4] = {};
    for (long& n : number) {
      n = std::strtol(text, &end, 10);
      text = *end ? end + 1 : end;
    }
    if (number[0] >= 0 && number[0] < calls) arm(call(number[0]), int(number[3]), number[1], number[2]);
  }
}

int ask(call c) {
  read_environment();
  return decide(c);
}

long answer(long result) {
  if (result < 0 && result > -4096) {
    errno = int(-result);
    return -1;
  }
  return result;
}

// Hands out low addresses in order, as a kernel of few address bits would; never reuses, which 2^BITS bytes allow.
long map_narrowly(unsigned long length, int protection, int flags, int fd, long offset) {
  constexpr unsigned long page = 65536;
  unsigned long whole = (length + page - 1) & ~(page - 1);
  if (length == 0 || whole < length) return -ENOMEM;
  unsigned long at = narrow_next.load();
  do {
    if (whole > narrow_end.load() || at > narrow_end.load() - whole) return -ENOMEM;
  } while (!narrow_next.compare_exchange_weak(at, at + whole));
  return system_call(SYS_mmap, at, length, protection, flags | MAP_FIXED_NOREPLACE, fd, offset);
}

long map(void* hint, std::size_t length, int protection, int flags, int fd, long offset) {
  if (int error = ask(call::map); error > 0) return -error;
  bool placed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
  if (narrow_end.load() && placed && reinterpret_cast<unsigned long>(hint) + length > narrow_end.load())
    return -ENOMEM;
  if (narrow_end.load() && !placed) return map_narrowly(length, protection, flags, fd, offset);
  return system_call(SYS_mmap, hint, length, protection, flags, fd, offset);
}

}  // namespace

extern "C" {

void* mmap(void* hint, std::size_t length, int protection, int flags, int fd, off_t offset) noexcept {
  return reinterpret_cast<void*>(answer(map(hint, length, protection, flags, fd, offset)));
}

void* mmap64(void* hint, std::size_t length, int protection, int flags, int fd, off_t offset) noexcept {
  return reinterpret_cast<void*>(answer(map(hint, length, protection, flags, fd, offset)));
}

int munmap(void* p, std::size_t length) noexcept {
  if (int error = ask(call::unmap); error > 0) return int(answer(-error));
  return int(answer(system_call(SYS_munmap, p, length)));
}

int mprotect(void* p, std::size_t length, int protection) noexcept {
  if (int error = ask(call::protect); error > 0) return int(answer(-error));
  return int(answer(system_call(SYS_mprotect, p, length, protection)));
}

int madvise(void* p, std::size_t length, int advice) noexcept {
  int error = ask(call::advise);
  if (error > 0) return int(answer(-error));
  if (error == without_effect) return 0;
  return int(answer(system_call(SYS_madvise, p, length, advice)));
}

void* mremap(void* p, std::size_t old_length, std::size_t length, int flags, ...) noexcept {
  va_list list;
  va_start(list, flags);
  void* target = flags & MREMAP_FIXED ? va_arg(list, void*) : nullptr;
  va_end(list);
  int error = ask(call::remap);
  if (error == go_on && narrow_end.load() && (flags & MREMAP_MAYMOVE) && !(flags & MREMAP_FIXED)) {
    flags &= ~MREMAP_MAYMOVE;  // the kernel would move it out of the narrow range
  }
  long result = error > 0 ? -error : system_call(SYS_mremap, p, old_length, length, flags, target);
  return reinterpret_cast<void*>(answer(result));
}

ssize_t getrandom(void* buffer, std::size_t length, unsigned flags) {
  if (int error = ask(call::random); error > 0) return answer(-error);
  return answer(system_call(SYS_getrandom, buffer, length, flags));
}

}  // extern "C"
