// scalloc's table 1: the presets of its figures, cut short, have the sizes and the share of remote frees that it lists, on
// any number of threads; and nothing is remote where there is one. The line of each run says what was counted.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "child.hpp"

namespace {

struct row {
  const char* workload;
  const char* preset;
  std::vector<std::string> shorter;
  std::vector<std::string> sizes;  // as the line has them
  // Of all frees, so many are remote with n threads.
  double least;
  double most;
};

double number(const std::string& line, const std::string& name) {
  const auto at = line.find("\"" + name + "\":");
  return at == std::string::npos ? NAN : std::strtod(line.c_str() + at + name.size() + 3, nullptr);
}

}  // namespace

int main() {
  using namespace polder::bench;
  unsigned wrong = 0;
  for (const unsigned threads : {2u, 4u}) {
    const double others = 1 - 1.0 / threads;  // of the threads, with each as likely to be the last reader
    const std::vector<row> table{
        {"threadtest", "scalloc-fig6", {"rounds=3"}, {"\"size\":64,"}, 0, 0},
        {"threadtest", "scalloc-fig13", {"rounds=3"}, {"\"size\":256,"}, 0, 0},
        {"shbench", "scalloc-fig7", {"rounds=5000"}, {"\"min\":1,", "\"max\":8,"}, 0, 0},
        {"larson",
         "scalloc-fig8",
         {"seconds=0", "rounds=400", "generations=3"},
         {"\"min\":7,", "\"max\":7,"},
         0.0001,
         0.01},
        {"producer_consumer",
         "scalloc-fig9",
         {"objects=40000"},
         {"\"min\":16,", "\"max\":512,"},
         others - 0.1,
         others + 0.1},
        {"active_false", "michael-fig8c", {"pairs=100"}, {"\"size\":8,"}, 0, 0},
        {"object_sizes",
         "scalloc-fig10",
         {"cycles=2", "cap=64K"},
         {"\"low\":4,", "\"high\":20,", "\"step\":2,"},
         0,
         0},
        {"spatial_locality", "scalloc-fig11", {"cycles=3"}, {"\"min\":16,", "\"max\":32,"}, 0, 0},
    };
    for (const row& r : table) {
      std::vector<std::string> words{"run", r.workload, "--preset", r.preset, "--threads", std::to_string(threads)};
      for (const auto& setting : r.shorter) {
        words.push_back("--param");
        words.push_back(setting);
      }
      const auto got = test::call(POLDER_BENCH, words);
      const double remote = number(got.out, "remote_frees") / number(got.out, "frees");
      bool right = got.status == 0 && r.least <= remote && remote <= r.most;
      for (const auto& size : r.sizes) right &= got.says(size);
      std::printf("%s --preset %s, %u threads: %.2f %% remote\n", r.workload, r.preset, threads, 100 * remote);
      if (right) continue;
      ++wrong;
      std::printf("wanted %.2f to %.2f %%; status %d\n%s%s", 100 * r.least, 100 * r.most, got.status,
                  got.out.c_str(), got.err.c_str());
    }
  }
  // Where there is one thread, nothing is another's.
  for (const auto& [workload, preset] : {std::pair{"passive_false", "smoke"},
                                         {"larson", "smoke-handed"},
                                         {"lock_free_producer_consumer", "smoke"}}) {
    const auto got = test::call(POLDER_BENCH, {"run", workload, "--preset", preset, "--main-thread"});
    if (got.status == 0 && number(got.out, "remote_frees") == 0) continue;
    ++wrong;
    std::printf("%s of the main thread alone: status %d\n%s%s", workload, got.status, got.out.c_str(),
                got.err.c_str());
  }
  std::printf("%u wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
