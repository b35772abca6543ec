#pragma once
// lacks — what the system beneath a test does not do, found out by trying it: a sandbox refuses calls, and an emulator
// of user programs takes some and does nothing. Each says why a case that depends on it is skipped; null: it is there.
//
//   if (const char* why = lacks_filters()) GTEST_SKIP() << why;
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>

#include <polder/base/sanitizers.hpp>
#include <polder/os/answered_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/resident_pages.hpp>

namespace polder::os {

// Sanitizers map shadows that no address-space limit leaves room for, and die when memory is refused to themselves.
inline const char* under_sanitizer() {
#if POLDER_SANITIZED
  return "under a sanitizer";
#endif
  return nullptr;
}

inline const char* lacks_filters() {
  static const bool there =
      forked([] { return answer(SYS_getppid, EPERM) && ::syscall(SYS_getppid) == -1 && errno == EPERM ? 0 : 1; }) ==
      fine;
  return there ? nullptr : "no seccomp filters here";
}

inline const char* lacks_limits() {
  if (const char* why = under_sanitizer()) return why;
  static const bool there = forked([] {
                              const rlimit none{0, 0};
                              if (::setrlimit(RLIMIT_AS, &none) != 0) return 1;
                              void* const p = ::mmap(nullptr, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                              return p == MAP_FAILED ? 0 : 2;
                            }) == fine;
  return there ? nullptr : "no limits on address space here";
}

// Where the kernel does not hear what madvise says, any advice succeeds, even one that there is not.
inline const char* lacks_advice() {
  static const bool there = forked([] { return ::madvise(nullptr, 0, 0x7777) == -1 ? 0 : 1; }) == fine;
  return there ? nullptr : "the kernel hears no advice here";
}

inline const char* lacks_huge_pages() {
  static const bool there = [] {
    void* const p = map(page_size());
    const bool wanted = advise_huge_pages(p, page_size(), true);
    return unmap(p, page_size()), wanted;
  }();
  return there ? nullptr : "no huge pages here";
}

// An emulator may hand over the page map of its own addresses.
inline const char* lacks_page_map() {
  static const bool there = [] {
    const std::size_t page = page_size();
    auto* const p = static_cast<std::byte*>(map(2 * page));
    const resident_pages pages;
    p[page] = std::byte{1};
    const bool told = pages.count(p, page) == 0 && pages.count(p + page, page) == 1;
    return unmap(p, 2 * page), told;
  }();
  return there ? nullptr : "no page map here";
}

}  // namespace polder::os
