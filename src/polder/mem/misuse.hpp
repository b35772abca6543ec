#pragma once
// misuse — what happens when a program frees what it may not free: one line on standard error, then abort().
//
//   in malloc  yes: formats into a buffer on the stack
//
//   polder: double free of 0x7f3c00010040: block of 64 bytes in span 0x7f3c00010000 (class 4, owner 1)
#include <cstddef>
#include <cstdint>

namespace polder::mem {

enum class misuse : std::uint8_t {
  double_free,
  invalid_free,
  misaligned_free,
  foreign_pointer,
  corrupted,
  size_mismatch
};

// What is known of the place; block_size 0: nothing.
struct misuse_place {
  std::size_t block_size = 0;
  const void* span = nullptr;
  unsigned cls = 0;
  unsigned owner = 0;
  const char* remark = nullptr;
};

[[noreturn]] void report(misuse kind, const void* p, const misuse_place& where = {}) noexcept;

}  // namespace polder::mem
