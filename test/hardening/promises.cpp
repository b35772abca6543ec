// What docs/how-to/hardening.md promises of each build, held by so many runs of each mistake.
//
//   promises default|hardened|guarded RUNS
#include <cstdlib>
#include <iterator>

#include "mistake.hpp"
#include "tally.hpp"

namespace {

using namespace polder;
using namespace polder::hardening;

struct promise {
  const char* mistake;
  double noticed;  // at least this share, by a line and the end of the process
  double harmed;   // at most this share: the mistake succeeded
};

constexpr promise by_default[] = {
    {"none", 0, 0},
    {"double-free", 1, 0},
    {"double-free-later", 1, 0},
    {"double-free-threads", 1, 0},
    {"double-free-race", 0.98, 0.02},  // two frees at the same instruction see a live block each
    {"double-free-large", 1, 0},
    {"double-free-large-later", 1, 0},
    {"realloc-after-free", 1, 0},
    {"free-after-realloc", 1, 0},
    {"free-inside", 1, 0},
    {"free-misaligned", 1, 0},
    {"free-inside-large", 1, 0},
    {"free-stack", 1, 0},
    {"free-static", 1, 0},
    {"free-mapping", 1, 0},
    {"free-low", 1, 0},
    {"free-random", 1, 0},
    {"free-other-heap", 1, 0},
    {"delete-smaller", 1, 0},
    {"delete-larger", 1, 0},
    {"delete-overaligned", 1, 0},
    {"write-link", 1, 0},
    {"read-recycled-calloc", 0, 0},
};

// Quarantine and places are drawn: what is likely has a floor that a right heap does not miss in a lifetime.
constexpr promise hardened[] = {
    {"double-free-reused", 0.9, 0.05}, {"write-after-free", 0.9, 0.05},   {"write-after-free-late", 0.9, 0.05},
    {"read-after-free", 0, 0},         {"read-after-free-late", 0, 0.05}, {"read-recycled", 0, 0},
    {"read-recycled-realloc", 0, 0},   {"read-recycled-large", 0, 0},     {"next-is-last-freed", 0, 0.1},
    {"reverse-order", 0, 0.1},         {"next-in-sequence", 0, 0.4},
};

// With guard_rate=1 all blocks, as many as there is room for, lie between guard pages.
constexpr promise guarded[] = {
    {"overrun-1", 0.2, 0.5},     {"overrun-64", 0.2, 0.8},     {"underrun", 0.2, 0.8},
    {"read-after-free", 0.2, 0}, {"read-overrun", 0.04, 0.96},
};

// Is it kept? Says so if not.
bool keeps(const promise& p, unsigned runs) {
  const char* none[] = {nullptr};
  const tally t = count(p.mistake, runs, 1, none);
  // A control that ends the process in any way is a false alarm.
  const bool innocent = std::strcmp(p.mistake, "none") != 0 || t.unharmed == t.runs;
  const bool kept = t.in_order() && t.hung == 0 && innocent && t.noticed >= p.noticed * t.made() &&
                    t.harmed <= p.harmed * t.made();
  if (!kept)
    probe::say(
        "%-24s FAILED: promised: noticed %.2f, harm at most %.2f; of %u runs %u were noticed, %u died silently, %u "
        "did "
        "harm, %u hung, %u went astray (%s); said \"%s\"",
        p.mistake, p.noticed, p.harmed, t.runs, t.noticed, t.died, t.harmed, t.hung, t.astray, t.strange, t.said);
  return kept;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "make") == 0) return make(argv[2], argv[3]);
  if (argc != 3) return 2;
  const auto runs = unsigned(std::atoi(argv[2]));
  std::size_t asked = 0, broken = 0;
  const auto ask = [&](const auto& promises) {
    for (const auto& p : promises) broken += !keeps(p, runs);
    asked += std::size(promises);
  };
  ask(by_default);
  if (std::strcmp(argv[1], "hardened") == 0) ask(hardened);
  if (std::strcmp(argv[1], "guarded") == 0) ask(guarded);
  probe::say("%zu of %zu promises not kept, %u runs each", broken, asked, runs);
  return broken != 0 ? 1 : 0;
}
