// Every structure of the registry under every reclaimer that a workload has for it, and in turn every drain: what went in and did
// not come out is there, and all that was retired is reclaimed. A pair that does not suit is refused, and each structure
// and each reclaimer has one that does. Under recording, none overtakes more than it promises.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "child.hpp"
#include "workload/all.hpp"

namespace {

std::vector<std::string> split(std::string_view words) {
  std::vector<std::string> all;
  for (std::size_t end; !words.empty(); words.remove_prefix(std::min(words.size(), end + 1))) {
    end = std::min(words.find('|'), words.size());
    all.emplace_back(words.substr(0, end));
  }
  return all;
}

unsigned wrong = 0;

// Settings: what the workload is asked for beside.
void product(const std::string& workload, std::string_view structures, std::string_view reclaimers,
             std::string_view all_drains, const std::string& setting, const char* threads) {
  const auto drains = split(all_drains);
  std::map<std::string, unsigned> suits;
  unsigned runs = 0;
  for (const auto& structure : split(structures)) {
    for (const auto& reclaimer : split(reclaimers)) {
      const auto got = polder::bench::test::call(
          POLDER_BENCH, {"run", workload, "--preset", "smoke", "--param", "structure=" + structure, "--param",
                         "reclaimer=" + reclaimer, "--param", "drain=" + drains[runs % drains.size()], "--param",
                         setting, "--threads", threads, "--time-limit", "50"});
      ++runs;
      if (got.status == 0 && got.says("\"ok\":true,\"why\":null")) {
        ++suits[structure];
        ++suits[reclaimer];
      } else if (got.err.find("this reclaimer ") == std::string::npos) {
        ++wrong;
        std::printf("%s of %s under %s: status %d\n%s%s", workload.c_str(), structure.c_str(), reclaimer.c_str(),
                    got.status, got.out.c_str(), got.err.c_str());
      }
      suits.try_emplace(structure);
      suits.try_emplace(reclaimer);
    }
  }
  for (const auto& [name, n] : suits) {
    if (n != 0) continue;
    ++wrong;
    std::printf("%s suits nothing\n", name.c_str());
  }
  std::printf("%s: %u runs\n", workload.c_str(), runs);
}

// Each collection through the other workloads, and in Scal's memory.
void in_short(const std::string& workload, const std::vector<std::string>& settings, const char* threads = "3",
              const std::string& says = "\"ok\":true,\"why\":null") {
  for (const auto& structure : split(polder::bench::collection_choice::structures)) {
    std::vector<std::string> words = {
        "run",       workload, "--preset",     "smoke", "--param", "structure=" + structure,
        "--threads", threads,  "--time-limit", "50"};
    for (const auto& setting : settings) words.insert(words.end(), {"--param", setting});
    const auto got = polder::bench::test::call(POLDER_BENCH, words);
    if (got.status == 0 && got.says(says)) continue;
    if (got.status == 2 && got.err.find(": this structure ") != std::string::npos) continue;
    ++wrong;
    std::printf("%s of %s: status %d\n%s%s", workload.c_str(), structure.c_str(), got.status, got.out.c_str(),
                got.err.c_str());
  }
}

}  // namespace

int main() {
  using namespace polder::bench;
  product("set", set::structures, set::reclaimers.view(), set::drains.view(), "keys=300", "4");
  product("hand_over", collection_choice::structures, collection_choice::reclaimers.view(),
          collection_choice::drains.view(), "elements=2000", "2");  // some are for one that puts and one that gets
  for (const char* const roles : {"put", "get", "alternating"})
    in_short("hand_over", {"reclaimer=leaky", "memory=preallocated", std::string("roles=") + roles});
  // Every one is looked at: two threads are not too many for any.
  in_short("hand_over", {"quality=1"}, "2", "\"k_measured\":");
  in_short("mandelbrot", {});
  in_short("graph_search", {"search=bfs"});
  std::printf("%u wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
