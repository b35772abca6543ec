#pragma once
// file_letters — files of the kernel's, letter by letter: what /sys and /proc tell.
//
//   in malloc  yes: raw calls, nothing is allocated, no call is a cancellation point
#include <fcntl.h>

#include <polder/os/print.hpp>
#include <polder/os/system_call.hpp>

namespace polder::os {

inline constexpr std::size_t longest_path = 1000;

// A file's name, put together from its parts, with the zero that the kernel wants. A longer one names no file.
class file_path : public text_buffer<longest_path> {
 public:
  template <class... Part>
  explicit file_path(Part... part) noexcept {
    (*this << ... << part);
    text_[size_ < longest_path ? size_ : 0] = '\0';
  }
};

class file_letters {
 public:
  static constexpr int end = -1;

  explicit file_letters(const char* name) noexcept
      : fd_(system_call(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC)) {}
  explicit file_letters(const file_path& name) noexcept : file_letters(name.text().data()) {}
  ~file_letters() {
    if (there()) system_call(SYS_close, fd_);
  }
  file_letters(const file_letters&) = delete;
  file_letters& operator=(const file_letters&) = delete;

  bool there() const { return fd_ >= 0; }

  int next() {
    if (at_ == size_) {
      size_ = there() ? system_call(SYS_read, fd_, piece_, sizeof piece_) : 0;
      at_ = 0;
      if (size_ <= 0) return size_ = 0, end;
    }
    return static_cast<unsigned char>(piece_[at_++]);
  }

 private:
  const long fd_;
  long at_ = 0;
  long size_ = 0;
  char piece_[256];
};

constexpr bool is_digit(int c) { return c >= '0' && c <= '9'; }

}  // namespace polder::os
