#pragma once
// dwarf_bytes — reads the numbers of debugging information from a range of bytes, one after the other.
//
//   papers     DWARF 5, 7.6 (LEB128); Linux Standard Base 5, Core, 10.5.1 (pointer encodings, DW_EH_PE_*)
//   in malloc  yes; in signal  yes
//   errors     past the end, or of what is not known, one reads 0; good() is false from then on, and at_end() true
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace polder::os {

class dwarf_bytes {
 public:
  dwarf_bytes() noexcept = default;
  dwarf_bytes(const std::byte* from, const std::byte* to) noexcept : at_(from), to_(to) {}

  bool good() const noexcept { return good_; }
  bool at_end() const noexcept { return at_ == to_; }
  const std::byte* at() const noexcept { return at_; }
  std::size_t left() const noexcept { return std::size_t(to_ - at_); }

  template <class T>
  T fixed() noexcept {
    T value{};
    if (left() < sizeof value) return fail<T>();
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  std::uint8_t byte() noexcept { return fixed<std::uint8_t>(); }

  std::uint64_t unsigned_leb() noexcept {
    unsigned length;
    return leb(length);
  }

  std::int64_t signed_leb() noexcept {
    unsigned length;
    std::uint64_t value = leb(length);
    if (length < 64 && length != 0 && (value >> (length - 1) & 1) != 0) value |= ~std::uint64_t{0} << length;
    return std::int64_t(value);
  }

  // The next `bytes`, which are then passed.
  dwarf_bytes part(std::uint64_t bytes) noexcept {
    if (left() < bytes) return fail<dwarf_bytes>();
    const dwarf_bytes them{at_, at_ + bytes};
    at_ += bytes;
    return them;
  }

  // A block: its length, and so many bytes.
  dwarf_bytes block() noexcept { return part(unsigned_leb()); }

  // A pointer: how it is written in the lower four bits, relative to what in the upper. Absolute ones and those relative to
  // their own place are known; that is what compilers write.
  std::uintptr_t pointer(std::uint8_t encoding) noexcept {
    const std::uintptr_t here = reinterpret_cast<std::uintptr_t>(at_);
    const std::uintptr_t value = number(encoding & 0x0f);
    switch (encoding & 0xf0) {
      case 0x00: return value;         // DW_EH_PE_absptr
      case 0x10: return here + value;  // DW_EH_PE_pcrel
      default: return fail<std::uintptr_t>();
    }
  }

  // The same as it is written, relative to nothing.
  std::uintptr_t number(std::uint8_t format) noexcept {
    switch (format) {
      case 0x00: return fixed<std::uintptr_t>();
      case 0x01: return unsigned_leb();
      case 0x02: return fixed<std::uint16_t>();
      case 0x03: return fixed<std::uint32_t>();
      case 0x04: return fixed<std::uint64_t>();
      case 0x09: return std::uintptr_t(signed_leb());
      case 0x0a: return std::uintptr_t(std::intptr_t{fixed<std::int16_t>()});
      case 0x0b: return std::uintptr_t(std::intptr_t{fixed<std::int32_t>()});
      case 0x0c: return fixed<std::uint64_t>();
      default: return fail<std::uintptr_t>();
    }
  }

 private:
  template <class T>
  T fail() noexcept {
    good_ = false;
    at_ = to_;
    return T{};
  }

  // `length`: how many bits were written. Those above the 64th are passed over.
  std::uint64_t leb(unsigned& length) noexcept {
    std::uint64_t value = 0;
    std::uint8_t next;
    length = 0;
    do {
      next = byte();
      if (length < 64) value |= std::uint64_t(next & 0x7f) << length, length += 7;
    } while ((next & 0x80) != 0);
    return value;
  }

  const std::byte* at_ = nullptr;
  const std::byte* to_ = nullptr;
  bool good_ = true;
};

}  // namespace polder::os
