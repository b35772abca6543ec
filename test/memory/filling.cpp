// Requirement 14: blocks of 64 KiB to 8 MiB are allocated, filled and kept. What the heap has of the system, and looks at before it
// has more, costs no more than 4 system calls in 4 MiB.
//   filling [MIB]     of each size (512)
#include <sys/syscall.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "../probe/system_calls.hpp"

using namespace polder;

int main(int argc, char** argv) {
  const std::size_t mib = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 512;
  probe::expect(mib >= 64, "usage: filling [MIB], at least 64");
  probe::system_calls calls;
  bool ok = true;
  for (const std::size_t kib : {64, 256, 1024, 2048, 8192})
    ok &= calls.trace([&] {
      calls.count_from_here();
      for (std::size_t had = 0; had < mib << 10; had += kib) {
        void* const p = probe::opaque(std::malloc(kib << 10));
        probe::expect(p != nullptr, "no memory");
        std::memset(p, 1, kib << 10);
      }
      calls.count_to_here();
      probe::say("%5zu KiB: %.1f system calls in 4 MiB, %.1f of them futex", kib,
                 4 * double(calls.all()) / double(mib), 4 * double(calls.of(SYS_futex)) / double(mib));
      probe::expect(calls.all() <= long(mib), "req 14: %ld system calls for %zu MiB", calls.all(), mib);
    }) == 0;
  return ok ? 0 : 1;
}
