#include <polder/base/align.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/resident_pages.hpp>
#include <polder/os/system_call.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cstdint>

namespace polder::os {
namespace {

// The kernel's Documentation/admin-guide/mm/pagemap.rst: eight bytes a page; bit 63: it is there, bit 62: it is swapped out.
constexpr std::uint64_t holds_memory = std::uint64_t{3} << 62;

}  // namespace

resident_pages::resident_pages() noexcept {
  file_ = system_call(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

resident_pages::~resident_pages() {
  if (file_ >= 0) system_call(SYS_close, file_);
}

std::size_t resident_pages::count(const void* p, std::size_t bytes) const noexcept {
  const std::size_t page = page_size(), end = (address(p) + bytes) / page;
  std::size_t resident = 0;
  constexpr std::size_t most = 64;
  std::uint64_t told[most];
  for (std::size_t at = address(p) / page; at != end;) {
    const std::size_t wanted = std::min(most, end - at) * sizeof told[0];
    if (file_ < 0 || system_call(SYS_pread64, file_, told, wanted, at * sizeof told[0]) != long(wanted))
      return unknown;
    const std::size_t n = wanted / sizeof told[0];
    for (std::size_t i = 0; i != n; ++i) resident += (told[i] & holds_memory) != 0;
    at += n;
  }
  return resident;
}

}  // namespace polder::os
