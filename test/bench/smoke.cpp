// Every registered workload, in each of its smoke presets, at 1, 2 and 5 threads, under whatever heap is preloaded.
#include <cstdio>
#include <string>

#include "child.hpp"
#include "workload/all.hpp"

int main() {
  using namespace polder::bench;
  unsigned wrong = 0;
  unsigned runs = 0;
  for_each(all_workloads{}, [&]<class W>() {
    bool any = false;
    for (const preset& p : W::info.presets) {
      if (!p.name.starts_with("smoke")) continue;
      any = true;
      for (const char* threads : {"1", "1m", "2", "5"}) {
        std::vector<std::string> words{"run",       std::string(W::info.name), "--preset",     std::string(p.name),
                                       "--threads", std::string(threads, 1),   "--time-limit", "50"};
        if (threads[1] == 'm') words.push_back("--main-thread");
        const auto got = test::call(POLDER_BENCH, words);
        ++runs;
        if (got.status == 0 && got.lines() == 1 && got.says("\"ok\":true,\"why\":null")) continue;
        ++wrong;
        std::printf("%s --preset %s --threads %s: status %d\n%s%s", W::info.name.data(), p.name.data(), threads,
                    got.status, got.out.c_str(), got.err.c_str());
      }
    }
    if (!any) {
      ++wrong;
      std::printf("%s has no preset for tests\n", W::info.name.data());
    }
  });
  std::printf("%u runs, %u wrong\n", runs, wrong);
  return wrong == 0 ? 0 : 1;
}
