#pragma once
// processor_set — processors on which a thread may run, as the kernel is told them and tells them.
//
//   in malloc  yes: raw calls; errno is kept
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <polder/os/system_call.hpp>

namespace polder::os {

struct processor_set {
  static constexpr unsigned most = 8192;  // the kernel refuses where it has more, and is built for so many at most
  static constexpr unsigned in_word = 8 * sizeof(unsigned long);
  unsigned long words[most / in_word] = {};

  // Of a thread, 0: the calling one. 0, or the error, negative: then it is as it was.
  static long read(std::uint32_t thread, processor_set& to) noexcept {
    const long bytes = system_call(SYS_sched_getaffinity, thread, sizeof to.words, to.words);
    return bytes > 0 ? 0 : bytes;
  }
  static processor_set all() noexcept {
    processor_set s;
    std::memset(s.words, 0xff, sizeof s.words);
    return s;
  }
  static processor_set one(unsigned n) noexcept {
    processor_set s;
    s.words[n / in_word] = 1ul << n % in_word;
    return s;
  }
  bool has(unsigned n) const noexcept { return (words[n / in_word] >> n % in_word & 1) != 0; }
  unsigned count() const noexcept {
    unsigned n = 0;
    for (const unsigned long word : words) n += unsigned(__builtin_popcountl(word));
    return n;
  }
  bool covers(const processor_set& other) const noexcept {
    bool all = true;
    for (unsigned i = 0; i != most / in_word; ++i) all = all && (other.words[i] & ~words[i]) == 0;
    return all;
  }
  // The calling thread runs on one of these from now on. False: on none of them may it.
  bool go() const noexcept { return system_call(SYS_sched_setaffinity, 0, sizeof words, words) == 0; }
};

}  // namespace polder::os
