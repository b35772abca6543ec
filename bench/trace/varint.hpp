#pragma once
// varint — unsigned numbers in as many bytes as they need, seven bits a byte, lowest first; signed ones in zigzag.
#include <cstdint>

namespace polder::trace {

inline constexpr unsigned longest_varint = 10;

// Writes at most longest_varint bytes; the place behind them.
inline std::uint8_t* put_varint(std::uint8_t* at, std::uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<std::uint8_t>(value);
  return at;
}

constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// Bytes of unknown origin, read in order. A read past the end, or a number that fits no 64 bits, fails and leaves it so.
class byte_reader {
 public:
  byte_reader() = default;
  byte_reader(const std::uint8_t* begin, const std::uint8_t* end) : at_(begin), end_(end) {}

  [[nodiscard]] bool byte(std::uint8_t& value) {
    if (at_ == end_) return false;
    value = *at_++;
    return true;
  }
  [[nodiscard]] bool varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      std::uint8_t next = 0;
      if (!byte(next)) return false;
      if (shift == 63 && next > 1) return false;
      value |= std::uint64_t{next & 0x7fu} << shift;
      if (next < 0x80) return true;
    }
    return false;
  }
  // The next n bytes, as a reader of their own.
  [[nodiscard]] bool part(std::uint64_t n, byte_reader& value) {
    if (n > static_cast<std::uint64_t>(end_ - at_)) return false;
    value = byte_reader(at_, at_ + n);
    at_ += n;
    return true;
  }
  bool at_end() const { return at_ == end_; }

 private:
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
};

}  // namespace polder::trace
