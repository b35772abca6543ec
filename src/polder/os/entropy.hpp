#pragma once
// entropy — 64 bits that an attacker outside the process does not know, without a system call.
#include <sys/auxv.h>

#include <cstdint>
#include <cstring>

namespace polder::os {

// Never 0. From AT_RANDOM, mixed so that the bytes the C library uses for its own guards cannot be read back from ours.
inline std::uint64_t process_secret() noexcept {
  std::uint64_t word = 0x9e37'79b9'7f4a'7c15;
  if (const auto* random = reinterpret_cast<const unsigned char*>(::getauxval(AT_RANDOM))) {
    std::uint64_t halves[2];
    std::memcpy(halves, random, sizeof halves);
    word ^= halves[0] * 0xbf58'476d'1ce4'e5b9 ^ halves[1] * 0x94d0'49bb'1331'11eb;
  }
  word ^= word >> 31;
  word *= 0xd6e8'feb8'6659'fd93;
  word ^= word >> 32;
  return word != 0 ? word : 1;
}

}  // namespace polder::os
