// A replay is a test of the heap as well: under a malloc with a planted fault it says so.
#include <cstdio>
#include <string>

#include "recorded.hpp"

using namespace polder::trace::test;

int main() {
  const scratch folder;
  folder.record("threads");
  const std::string trace = folder.packed(folder.named("raw.").at(0));
  unsigned wrong = 0;
  for (const std::string fault : {"none", "null", "misaligned", "twice", "short", "lossy"}) {
    const auto got =
        run_program(POLDER_TRACE, {"replay", trace}, {"LD_PRELOAD=" BROKEN_MALLOC, "POLDER_BENCH_FAULT=" + fault});
    const bool good = fault == "none" ? got.status == 0 && got.says("\"ok\":true")
                                      : got.status == 1 && got.says("\"ok\":false,\"why\":\"");
    wrong += !good;
    if (!good) std::printf("fault '%s': status %d\n%.300s\n", fault.c_str(), got.status, got.out.c_str());
  }
  std::printf("%u wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
