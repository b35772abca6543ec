#pragma once
// readable_memory — reads words at addresses that may be wrong: the kernel is asked whether a page can be read, once for
// each page on the way up a stack.
//
//   cost       a system call a page; none for the page that the object itself lies in
//   in malloc  yes; in signal  yes; errno is kept
//   errors     a filter that refuses the call makes every other page unreadable
//
// An answer holds only while nobody unmaps the page. So it is for the calling thread's own stacks, which stay while it runs
// on them; elsewhere another thread can make it false.
#include <cstdint>

namespace polder::os {

class readable_memory {
 public:
  readable_memory() noexcept;

  // False: there is nothing to read, or `at` is no multiple of a word's size.
  bool word(std::uintptr_t at, std::uintptr_t& value) noexcept;

 private:
  bool open(std::uintptr_t at) noexcept;

  std::uintptr_t page_;
  std::uintptr_t from_;  // [from_, to_) is readable
  std::uintptr_t to_;
};

}  // namespace polder::os
