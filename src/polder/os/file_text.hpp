#pragma once
// file_text — text of any length for a file descriptor, in pieces.
//
//   in malloc  yes: a buffer of its own, write(2), no locale, no stream; errno is kept; not a cancellation point
//   in signal  yes
//   errors     the first one is remembered, and what comes after it is not written
#include <concepts>
#include <cstddef>
#include <string_view>

#include <polder/os/print.hpp>

namespace polder::os {

class file_text {
 public:
  explicit file_text(int fd) noexcept : fd_(fd) {}
  file_text(const file_text&) = delete;
  file_text& operator=(const file_text&) = delete;
  ~file_text() { flush(); }

  file_text& operator<<(std::string_view s) noexcept {
    while (!s.empty()) {
      if (size_ == sizeof text_) flush();
      const std::size_t n = s.copy(text_ + size_, sizeof text_ - size_);
      size_ += n;
      s.remove_prefix(n);
    }
    return *this;
  }
  // Whatever text_buffer takes that is short.
  template <class T>
    requires(!std::convertible_to<const T&, std::string_view>)
  file_text& operator<<(const T& what) noexcept {
    text_buffer<80> piece;
    piece << what;
    return *this << piece.text();
  }

  // All of another file, as far as it can be read.
  file_text& copy_file(const char* name) noexcept;

  // 0, or errno of the first write that failed.
  int flush() noexcept;

 private:
  int fd_;
  int error_ = 0;
  std::size_t size_ = 0;
  char text_[2048];
};

}  // namespace polder::os
