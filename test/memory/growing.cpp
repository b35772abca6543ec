// Requirement 14: a block of 4 bytes grows by doubling, and all of it is written. Never is more resident than 1.1 times what it is
// at last; from 1 MiB on it grows where it is or moves with its pages (mremap); and it keeps what was in it.
//   growing [MIB]     by default 1024 in the full form, else 256
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "../full_form.hpp"
#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "../probe/resident.hpp"
#include "../probe/system_calls.hpp"

using namespace polder;

namespace {

constexpr std::size_t step = 1024;  // a word in so many bytes; what grows to be one is the first

std::uint32_t word_at(std::size_t at) { return std::uint32_t(at * 0x9e3779b9u + 1); }

void write(char* p, std::size_t from, std::size_t to) {
  for (std::size_t at = (from + step - 1) / step * step; at < to; at += step) {
    const std::uint32_t w = word_at(at);
    std::memcpy(p + at, &w, sizeof w);
  }
}

void check(const char* p, std::size_t to) {
  for (std::size_t at = 0; at < to; at += step) {
    const std::uint32_t w = word_at(at);
    probe::expect(std::memcmp(p + at, &w, sizeof w) == 0, "req 14: of %zu bytes those at %zu were lost", to, at);
  }
}

// The most that was ever resident, in KiB.
long peak_kib() {
  char text[4096];
  probe::read_text("/proc/self/status", text, sizeof text);
  const char* const at = std::strstr(text, "VmHWM:");
  probe::expect(at != nullptr, "the kernel tells no VmHWM");
  return std::atol(at + 6);
}

void grow(std::size_t last, probe::system_calls& calls) {
  ::alarm(300);
  const long before = probe::resident_kib();
  auto* p = static_cast<char*>(probe::opaque(std::malloc(4)));
  write(p, 0, 4);
  long in_place = 0, moved = 0;
  for (std::size_t n = 4; n < last; n *= 2) {
    calls.count_from_here();
    auto* const q = static_cast<char*>(probe::opaque(std::realloc(p, 2 * n)));
    calls.count_to_here();
    probe::expect(q != nullptr, "no memory");
    if (n >= 1 << 20) {
      const bool remapped = calls.of(SYS_mremap) != 0;
      probe::expect(remapped || q == p, "req 14: from %zu bytes on it was copied", n);
      ++(remapped ? moved : in_place);
    }
    p = q;
    check(p, n);
    write(p, n, 2 * n);
  }
  const long peak = peak_kib() - before, all = long(last >> 10);
  probe::say("%zu MiB: from 1 MiB on in place %ld times, by mremap %ld; at most %ld KiB resident, %.3f of it",
             last >> 20, in_place, moved, peak, double(peak) / double(all));
  probe::expect(peak * 10 <= all * 11, "req 14: %ld KiB resident for a block of %ld", peak, all);
  std::free(p);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t mib = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : is_full_form() ? 1024 : 256;
  probe::expect(mib >= 2 && (mib & (mib - 1)) == 0, "usage: growing [MIB], a power of two");
  probe::system_calls calls;
  return calls.trace([&] { grow(mib << 20, calls); }) == 0 ? 0 : 1;
}
