// Every structure of the registry under every reclaimer and in turn every drain, through the workload that runs them: what
// was inserted less what was deleted is there, and all that was retired is reclaimed. A pair that does not suit is refused,
// and each structure and each reclaimer has one that does.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

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

}  // namespace

int main() {
  using polder::bench::set;
  const auto drains = split(set::drains.view());
  std::map<std::string, unsigned> suits;
  unsigned runs = 0, wrong = 0;
  for (const auto& structure : split(set::structures)) {
    for (const auto& reclaimer : split(set::reclaimers.view())) {
      const auto got = polder::bench::test::call(
          POLDER_BENCH, {"run", "set", "--preset", "smoke", "--param", "structure=" + structure, "--param",
                         "reclaimer=" + reclaimer, "--param", "drain=" + drains[runs % drains.size()], "--param",
                         "keys=300", "--threads", "4", "--time-limit", "50"});
      ++runs;
      if (got.status == 0 && got.says("\"ok\":true,\"why\":null")) {
        ++suits[structure];
        ++suits[reclaimer];
      } else if (got.err.find("this reclaimer ") == std::string::npos) {
        ++wrong;
        std::printf("%s under %s: status %d\n%s%s", structure.c_str(), reclaimer.c_str(), got.status,
                    got.out.c_str(), got.err.c_str());
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
  std::printf("%u runs, %u wrong\n", runs, wrong);
  return wrong == 0 ? 0 : 1;
}
