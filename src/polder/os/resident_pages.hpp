#pragma once
// resident_pages — how many pages of a range hold memory, as the kernel's page map of the process tells.
//
//   cost       opening a file; then a system call for 64 pages
//   in malloc  yes; in signal  yes: raw calls, none a cancellation point; errno is kept
//   errors     where there is no /proc, or none for this process, nothing is known
#include <cstddef>

namespace polder::os {

class resident_pages {
 public:
  static constexpr std::size_t unknown = ~std::size_t{0};

  resident_pages() noexcept;
  ~resident_pages();
  resident_pages(const resident_pages&) = delete;
  resident_pages& operator=(const resident_pages&) = delete;

  // Pages of the system's size, those that were swapped out among them. [p, p + bytes) begins and ends with a page.
  std::size_t count(const void* p, std::size_t bytes) const noexcept;

 private:
  long file_;
};

}  // namespace polder::os
