// A replay is a test of the heap as well: under a malloc with a planted fault it says so.
#include <cstdio>
#include <initializer_list>
#include <string>

#include "recorded.hpp"

using namespace polder::trace::test;

namespace {

unsigned wrong = 0;

void notices(const std::string& subject, std::initializer_list<std::string> faults) {
  const scratch folder;
  folder.record(subject);
  const std::string trace = folder.packed(folder.named("raw.").at(0));
  for (const std::string& fault : faults) {
    const auto got =
        run_program(POLDER_TRACE, {"replay", trace}, {"LD_PRELOAD=" BROKEN_MALLOC, "POLDER_BENCH_FAULT=" + fault});
    const bool good = fault == "none" ? got.status == 0 && got.says("\"ok\":true")
                                      : got.status == 1 && got.says("\"ok\":false,\"why\":\"") &&
                                            got.says("\"user\":null,\"system\":null,\"minor_faults\":null");
    wrong += !good;
    if (!good)
      std::printf("%s, fault '%s': status %d\n%.300s\n", subject.c_str(), fault.c_str(), got.status,
                  got.out.c_str());
  }
}

}  // namespace

int main() {
  notices("threads", {"none", "null", "misaligned", "twice", "short", "lossy"});
  for (const char* subject : {"callocs", "large_callocs"}) notices(subject, {"none", "dirty"});
  std::printf("%u wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
