#pragma once
// output — a text of any length on its way to a file descriptor, in pieces, from inside malloc.
//
//   os::output to(fd);  to << "polder_spans " << n << '\n';  return to.finish();
//
//   in malloc  yes: a buffer on the stack, write(2) past the C library, no locale, no stream; errno is kept; not a
//              cancellation point
//   in signal  yes
//
// A piece ends with a line where it can, so that lines stay whole among those of other writers. After the first write that fails
// nothing more is written.
#include <algorithm>
#include <cerrno>
#include <concepts>
#include <cstring>
#include <string_view>

#include <polder/os/print.hpp>
#include <polder/os/system_call.hpp>

namespace polder::os {

class output {
 public:
  explicit output(int fd) noexcept : fd_(fd) {}
  output(const output&) = delete;
  output& operator=(const output&) = delete;

  output& operator<<(std::string_view s) noexcept {
    while (!s.empty()) {
      if (size_ == capacity) send_lines();
      const std::size_t n = std::min(s.size(), capacity - size_);
      std::memcpy(text_ + size_, s.data(), n);
      size_ += n;
      s.remove_prefix(n);
    }
    return *this;
  }
  output& operator<<(const char* s) noexcept { return *this << std::string_view(s); }
  output& operator<<(char c) noexcept { return *this << std::string_view(&c, 1); }
  output& operator<<(bool) = delete;
  output& operator<<(std::integral auto n) noexcept { return put_short(n); }
  output& operator<<(const void* p) noexcept { return put_short(p); }

  // All of another file, as far as it can be read.
  output& copy_file(const char* name) noexcept;

  // Sends the rest. 0, or errno of the write that failed.
  [[nodiscard]] int finish() noexcept {
    send(size_);
    return error_;
  }

 private:
  static constexpr std::size_t capacity = 1024;

  output& put_short(auto what) noexcept {
    text_buffer<24> text;
    text << what;
    return *this << text.text();
  }

  void send_lines() noexcept {
    std::size_t n = size_;
    while (n != 0 && text_[n - 1] != '\n') --n;
    send(n != 0 ? n : size_);
  }

  void send(std::size_t n) noexcept {
    for (std::size_t sent = 0; sent != n && error_ == 0;) {
      const long now = system_call(SYS_write, fd_, text_ + sent, n - sent);
      if (now > 0) sent += std::size_t(now);
      else if (now == 0) error_ = EIO;  // nothing is taken, and nothing is said of why
      else if (now != -EINTR) error_ = int(-now);
    }
    std::memmove(text_, text_ + n, size_ - n);
    size_ -= n;
  }

  int fd_;
  int error_ = 0;
  std::size_t size_ = 0;
  char text_[capacity];
};

}  // namespace polder::os
