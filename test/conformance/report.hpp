#pragma once
// report — what one case found, as one line of text in a fixed buffer: writing it must not allocate.
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "calls.hpp"

namespace conformance {

class report {
 public:
  [[gnu::format(printf, 2, 3)]] void say(const char* format, ...) {
    const int kept = errno;
    if (used_ != 0 && used_ + 2 < sizeof text_) {
      text_[used_++] = ';';
      text_[used_++] = ' ';
    }
    va_list arguments;
    va_start(arguments, format);
    const int n = std::vsnprintf(text_ + used_, sizeof text_ - used_, format, arguments);
    va_end(arguments);
    used_ += n < 0 ? 0 : static_cast<std::size_t>(n);
    if (used_ >= sizeof text_) used_ = sizeof text_ - 1;
    errno = kept;
  }

  // The outcome of a call whose errno was cleared before it: what a caller may rely on, and nothing an allocator is
  // free to choose (the address, the exact usable size).
  void outcome(const char* call, void* p, std::size_t n) {
    const int e = errno;
    const char* name = e == 0 ? "0" : ::strerrorname_np(e);
    if (p == nullptr) return say("%s: NULL, errno %s", call, name);
    say("%s: block%s%s, errno %s", call,
        reinterpret_cast<std::uintptr_t>(p) % 16 == 0 ? ", 16-aligned" : ", NOT 16-aligned",
        subject::usable(p) >= n ? ", usable >= n" : ", usable < n", name);
  }

  bool empty() const { return used_ == 0; }
  const char* text() const { return used_ == 0 ? "ok" : text_; }

 private:
  std::size_t used_ = 0;
  char text_[1024] = {};
};

// Filling and checking blocks: every byte depends on its place and on the seed, so a block copied one byte off shows.
inline unsigned char byte_of(std::size_t seed, std::size_t i) {
  return static_cast<unsigned char>((i * 131 + seed * 29 + (i >> 8) * 7) | 1);
}
inline void fill(void* p, std::size_t n, std::size_t seed) {
  auto* bytes = static_cast<unsigned char*>(p);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = byte_of(seed, i);
  opaque(p);
}
inline bool holds(const void* p, std::size_t n, std::size_t seed) {
  auto* bytes = static_cast<const unsigned char*>(opaque(p));
  for (std::size_t i = 0; i < n; ++i)
    if (bytes[i] != byte_of(seed, i)) return false;
  return true;
}
inline bool all_zero(const void* p, std::size_t n) {
  auto* bytes = static_cast<const unsigned char*>(opaque(p));
  if (n == 0) return true;
  return bytes[0] == 0 && std::memcmp(bytes, bytes + 1, n - 1) == 0;
}
inline bool aligned_to(const void* p, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(opaque(p)) % alignment == 0;
}

}  // namespace conformance
