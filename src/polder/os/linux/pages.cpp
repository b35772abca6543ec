#include <polder/os/errno_keeper.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/system_call.hpp>
#include <polder/os/timeline.hpp>
#include <polder/sync/atomic.hpp>

#include <linux/futex.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <array>
#include <bit>
#include <csignal>
#include <cstdint>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41  // Linux 5.17, where it was built with CONFIG_ANON_VMA_NAME
#define PR_SET_VMA_ANON_NAME 0
#endif

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102  // Linux 6.13
#define MADV_GUARD_REMOVE 103
#endif

// Memory comes and goes by the C library's calls, where others look on: who registers memory with a device has to hear what is
// unmapped or dropped, sanitizers have a shadow of what is mapped, tests make calls fail. Who replaces these knows that a heap calls
// them. Whatever else the heap asks of the kernel it asks itself.
namespace polder::os {
namespace {

using told = timeline::span;
using timeline::kind;

void* mapped_or_null(void* p) { return p == MAP_FAILED ? nullptr : p; }

bool advise(void* p, std::size_t bytes, int what) noexcept {
  const errno_keeper keep;
  const told t{kind::advise, std::uint32_t(what), bytes};
  for (int tries = 0; tries < 8; ++tries) {
    if (::madvise(p, bytes, what) == 0) return true;
    if (errno != EAGAIN) return false;  // else a kernel resource was short for a moment
  }
  return false;
}

}  // namespace

std::size_t page_size() noexcept {
  const std::size_t n = ::getauxval(AT_PAGESZ);
  return n != 0 ? n : 4096;
}

void* reserve(std::size_t bytes, use_of_reserved use) noexcept {
  const errno_keeper keep;
  const told t{kind::map, 0, bytes};
  const int sparse = use == use_of_reserved::sparse ? MAP_NORESERVE : 0;
  return mapped_or_null(::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | sparse, -1, 0));
}

void* map(std::size_t bytes) noexcept { return map_near(nullptr, bytes); }

void* map_near(void* place, std::size_t bytes) noexcept {
  const errno_keeper keep;
  const told t{kind::map, 0, bytes};
  return mapped_or_null(::mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

bool commit(void* p, std::size_t bytes) noexcept {
  const errno_keeper keep;
  const told t{kind::map, 0, bytes};
  return ::mprotect(p, bytes, PROT_READ | PROT_WRITE) == 0;
}

bool deny(void* p, std::size_t bytes) noexcept {
  const errno_keeper keep;
  const told t{kind::map, 0, bytes};
  return ::mprotect(p, bytes, PROT_NONE) == 0;
}

namespace {

// Whether the word at p is this one: the kernel looks, and does not fault. It would move no sleeper from there to there.
bool reads_as(const std::uint32_t* p, std::uint32_t word) {
  return system_call(SYS_futex, p, FUTEX_CMP_REQUEUE_PRIVATE, 0, nullptr, p, word) == 0;
}

}  // namespace

// Not by a set of signals, which valgrind reads itself, and dies of it where a guard is that it knows nothing of.
bool reads_as_zero(const void* p) noexcept { return reads_as(static_cast<const std::uint32_t*>(p), 0); }

bool install_guard(void* p, std::size_t bytes) noexcept { return advise(p, bytes, MADV_GUARD_INSTALL); }
bool remove_guard(void* p, std::size_t bytes) noexcept { return advise(p, bytes, MADV_GUARD_REMOVE); }

bool unmap(void* p, std::size_t bytes) noexcept {
  const errno_keeper keep;
  const told t{kind::unmap, 0, bytes};
  return ::munmap(p, bytes) == 0;
}

bool resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
  const errno_keeper keep;
  const told t{kind::map, 0, new_bytes};
  return ::mremap(p, old_bytes, new_bytes, 0) == p;
}

// The kernel unmaps the destination before it looks at limits and at what is committed, older ones also before they see that
// `from` is several mappings; and it does not say how far it came. So a mark is left at the destination: where it still is,
// nothing has happened. Nobody else has the same: it is made of an address on this thread's stack, and is no address itself.
moved move(void* from, std::size_t old_bytes, void* to, std::size_t new_bytes) noexcept {
  const errno_keeper keep;
  const told t{kind::map, 0, new_bytes};
  if (new_bytes < old_bytes || ::mprotect(to, page_size(), PROT_READ | PROT_WRITE) != 0) return moved::refused;
  constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15;
  const std::uint64_t ours = address(&keep) * odd;
  auto& mark = *static_cast<atomic<std::uint64_t>*>(to);
  const std::uint64_t before = mark.exchange(ours, order::relaxed);
  if (::mremap(from, old_bytes, new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to) return moved::there;
  const auto halves = std::bit_cast<std::array<std::uint32_t, 2>>(ours);
  const auto* const there = static_cast<const std::uint32_t*>(to);
  if (!reads_as(there, halves[0]) || !reads_as(there + 1, halves[1])) return moved::lost;
  mark.store(before, order::relaxed);
  return moved::refused;
}

void* move_anywhere(void* from, std::size_t old_bytes, std::size_t new_bytes) noexcept {
  const errno_keeper keep;
  const told t{kind::map, 0, new_bytes};
  return mapped_or_null(::mremap(from, old_bytes, new_bytes, MREMAP_MAYMOVE));
}

discarded discard_now(void* p, std::size_t bytes) noexcept {
  return advise(p, bytes, MADV_DONTNEED) ? discarded::zeroed : discarded::refused;
}

discarded discard_lazily(void* p, std::size_t bytes) noexcept {
  return advise(p, bytes, MADV_FREE) ? discarded::lazily : discard_now(p, bytes);
}

bool populate(void* p, std::size_t bytes) noexcept { return advise(p, bytes, MADV_POPULATE_WRITE); }

bool advise_huge_pages(void* p, std::size_t bytes, bool wanted) noexcept {
  return advise(p, bytes, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

bool keep_in_core_dumps(void* p, std::size_t bytes, bool wanted) noexcept {
  return advise(p, bytes, wanted ? MADV_DODUMP : MADV_DONTDUMP);
}

bool name(void* p, std::size_t bytes, const char* what) noexcept {
  return system_call(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, bytes, what) == 0;
}

namespace {

std::size_t limit_of(int which) {
  rlimit limit;
  if (system_call(SYS_prlimit64, 0, which, nullptr, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return SIZE_MAX;
  return limit.rlim_cur;
}

}  // namespace

std::size_t physical_memory() noexcept {
  struct sysinfo s;
  return system_call(SYS_sysinfo, &s) == 0 ? std::size_t{s.totalram} * s.mem_unit : 0;
}

std::size_t address_space_limit() noexcept { return limit_of(RLIMIT_AS); }

std::size_t data_limit() noexcept { return limit_of(RLIMIT_DATA); }

}  // namespace polder::os
