#pragma once
// print — one line of text on standard error, from inside malloc.
//
//   os::line() << "polder: double free of " << p << ": block of " << os::bytes{64};      // written when it dies
//
//   in malloc  yes: a buffer on the stack, one write(2), no locale, no stream; errno is kept; not a cancellation point
//   in signal  yes
//
// A line that is longer than the buffer loses its end, never its newline.
#include <unistd.h>

#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <polder/os/system_call.hpp>

namespace polder::os {

struct hex {  // 0x2a
  std::uint64_t value;
};

struct bytes {  // a size, in the largest unit that divides it: 64 KiB, 1 MiB, 100 bytes
  std::uint64_t value;
};

// Text in a buffer of its own; `line` adds the writing.
template <std::size_t capacity>
class text_buffer {
 public:
  text_buffer() noexcept = default;
  text_buffer(const text_buffer&) = delete;
  text_buffer& operator=(const text_buffer&) = delete;

  text_buffer& operator<<(std::string_view s) noexcept {
    for (const char c : s) put(c);
    return *this;
  }
  text_buffer& operator<<(const char* s) noexcept { return *this << std::string_view(s ? s : "(null)"); }
  text_buffer& operator<<(char c) noexcept { return put(c), *this; }
  text_buffer& operator<<(bool) = delete;  // say yes or no in words
  text_buffer& operator<<(std::unsigned_integral auto n) noexcept { return digits(n, 10), *this; }
  text_buffer& operator<<(std::signed_integral auto n) noexcept {
    if (n < 0) put('-');
    return digits(n < 0 ? -std::uint64_t(n) : std::uint64_t(n), 10), *this;
  }
  text_buffer& operator<<(const void* p) noexcept { return *this << hex{reinterpret_cast<std::uintptr_t>(p)}; }
  text_buffer& operator<<(hex h) noexcept { return *this << "0x", digits(h.value, 16), *this; }
  text_buffer& operator<<(bytes b) noexcept {
    constexpr std::string_view units[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};
    unsigned unit = 0;
    std::uint64_t n = b.value;
    while (n != 0 && n % 1024 == 0 && unit + 1 < std::size(units)) n /= 1024, ++unit;
    return *this << n << (unit == 0 && n == 1 ? std::string_view(" byte") : units[unit]);
  }

  std::string_view text() const noexcept { return {text_, size_}; }
  void clear() noexcept { size_ = 0; }

 protected:
  void put(char c) noexcept {
    if (size_ < capacity) text_[size_++] = c;
  }
  void digits(std::uint64_t n, unsigned base) noexcept {
    char reversed[20];
    unsigned count = 0;
    do reversed[count++] = "0123456789abcdef"[n % base];
    while ((n /= base) != 0);
    while (count != 0) put(reversed[--count]);
  }

  std::size_t size_ = 0;
  char text_[capacity + 1];  // one more for the newline
};

// Writes `text` to `fd` as far as it is taken at once.
inline void write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const long n = system_call(SYS_write, fd, text.data(), text.size());
    if (n > 0) {
      text.remove_prefix(std::size_t(n));
    } else if (n != -EINTR) {
      break;  // nobody listens, or would only after a wait
    }
  }
}

using line_text = text_buffer<1024>;  // all options with the longest values, and what is said before them

class line : public line_text {
 public:
  explicit line(int fd = STDERR_FILENO) noexcept : fd_(fd) {}
  ~line() {
    text_[size_++] = '\n';
    write_all(fd_, text());
  }

 private:
  int fd_;
};

}  // namespace polder::os
