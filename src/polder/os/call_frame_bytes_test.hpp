#pragma once
// call_frame_bytes — call frame information written by hand: numbers as DWARF writes them, and an object with one function.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

#include <polder/base/align.hpp>

namespace polder::os {

class dwarf_text {
 public:
  dwarf_text() = default;
  dwarf_text(std::initializer_list<int> bytes) {
    for (const int b : bytes) byte(b);
  }

  dwarf_text& byte(int b) { return bytes_.push_back(std::byte(b)), *this; }

  template <class T>
  dwarf_text& fixed(T value) {
    const auto* const from = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof value);
    return *this;
  }

  dwarf_text& unsigned_leb(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(int(value & 0x7f) | 0x80);
    return byte(int(value));
  }

  dwarf_text& signed_leb(std::int64_t value) {
    for (; value < -64 || value > 63; value >>= 7) byte(int(value & 0x7f) | 0x80);
    return byte(int(value & 0x7f));
  }

  dwarf_text& add(const dwarf_text& other) {
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    return *this;
  }

  dwarf_text& block(const dwarf_text& other) { return unsigned_leb(other.size()).add(other); }

  dwarf_text& put(std::size_t at, std::byte b) { return bytes_[at] = b, *this; }

  std::size_t size() const { return bytes_.size(); }
  const std::byte* data() const { return bytes_.data(); }
  std::span<const std::byte> whole() const { return bytes_; }
  void cut(std::size_t length) { bytes_.resize(length); }

 private:
  std::vector<std::byte> bytes_;
};

// A record is its length and so many bytes.
inline dwarf_text record_of(const dwarf_text& content) {
  return dwarf_text{}.fixed(std::uint32_t(content.size())).add(content);
}

struct written_entry {
  std::uintptr_t begin = 0x10'0000;  // where nothing is, nor is it looked at
  std::uintptr_t length = 0x100;
  unsigned return_column = 0;
  dwarf_text augmentation{'z', 'R', 0};
  dwarf_text augmentation_data{0};  // R: absolute pointers
  dwarf_text common{};
  dwarf_text instructions{};
  int version = 1;
};

// The bytes of an object, and where in it the function's entry lies.
struct written_object {
  explicit written_object(const written_entry& e) {
    dwarf_text cie;
    cie.fixed(std::uint32_t{0}).byte(e.version).add(e.augmentation).unsigned_leb(4).signed_leb(-8);
    cie.unsigned_leb(e.return_column).block(e.augmentation_data).add(e.common);
    bytes = record_of(cie);
    entry = bytes.size();
    dwarf_text fde;
    fde.fixed(std::uint32_t(entry + 4)).fixed(e.begin).fixed(e.length).unsigned_leb(0).add(e.instructions);
    bytes.add(record_of(fde));
  }
  const std::byte* at() const { return bytes.data() + entry; }

  dwarf_text bytes;
  std::size_t entry;
};

}  // namespace polder::os
