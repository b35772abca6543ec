#pragma once
// call_frame_index — which entry of an object's call frame information tells of an address: a search in the sorted table
// that the linker puts before it, .eh_frame_hdr.
//
//   paper      Linux Standard Base 5, Core, 10.6.2
//   progress   wait-free, one step for each doubling of the table
//   in malloc  yes; in signal  yes
#include <cstddef>
#include <cstdint>
#include <span>

#include <polder/base/align.hpp>
#include <polder/os/dwarf_bytes.hpp>

namespace polder::os {

// The entry (FDE) that begins at or last before `place`; whether it reaches so far, the entry itself tells. Null: there is
// none, or the table is of a kind that no linker writes. `header` lies in `object`.
inline const std::byte* entry_before(std::span<const std::byte> object, const std::byte* header,
                                     std::uintptr_t place) noexcept {
  constexpr std::uint8_t omitted = 0xff;    // DW_EH_PE_omit
  constexpr std::uint8_t from_here = 0x3b;  // DW_EH_PE_datarel | DW_EH_PE_sdata4: from the header on
  struct row {
    std::int32_t begin, entry;
  };
  dwarf_bytes bytes{header, object.data() + object.size()};
  const std::uint8_t version = bytes.byte();
  const std::uint8_t section = bytes.byte();
  const std::uint8_t count = bytes.byte();
  const std::uint8_t table = bytes.byte();
  if (version != 1 || table != from_here || count == omitted) return nullptr;
  if (section != omitted) bytes.number(section & 0x0f);
  const std::uintptr_t rows = bytes.pointer(count);
  if (!bytes.good() || rows > bytes.left() / sizeof(row)) return nullptr;
  const std::byte* const first = bytes.at();
  const auto row_at = [first](std::uintptr_t i) {
    row r;
    std::memcpy(&r, first + i * sizeof r, sizeof r);
    return r;
  };
  const auto from_header = [header](std::int32_t distance) {
    return address(header) + std::uintptr_t(std::intptr_t{distance});
  };
  std::uintptr_t low = 0,
                 high = rows;  // those below `low` begin at or before `place`, those from `high` on behind it
  while (low < high) {
    const std::uintptr_t middle = low + (high - low) / 2;
    if (from_header(row_at(middle).begin) <= place) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return nullptr;
  const std::uintptr_t entry = from_header(row_at(low - 1).entry);
  return entry - address(object.data()) < object.size() ? at_address(entry) : nullptr;
}

}  // namespace polder::os
