// polder-mistakes — what a program may not do with its heap, done many times under any malloc.
//
//   polder-mistakes list [--json]                                what there is
//   polder-mistakes make NAME SEED                               one of them, here and now; how it ends tells (mistake.hpp)
//   polder-mistakes tally NAME RUNS FIRST_SEED [NAME=VALUE…]     so many, each in a process with these settings, counted
//
// `./polder mistakes` does the last for all of them under many heaps and prints a matrix.
#include <polder/os/printed.hpp>

#include "../probe/json.hpp"
#include "mistake.hpp"
#include "tally.hpp"

namespace {

using namespace polder;
using namespace polder::hardening;
using probe::print_string;

int list(bool json) {
  const char* between = "";
  if (json) {
    std::printf("{\"groups\": [");
    for (const auto& g : groups) {
      std::printf("%s\n  {", between);
      print_string("name", g.name, ", ");
      print_string("title", g.title, "}");
      between = ",";
    }
    std::printf("],\n \"mistakes\": [");
    between = "";
  }
  for_every_mistake_in_order([&](const mistake& one) {
    if (!json) return std::printf("%-24s %s\n", one.name, one.what), void();
    std::printf("%s\n  {", between);
    print_string("name", one.name, ", ");
    print_string("group", one.group, ", ");
    print_string("what", one.what, ", ");
    print_string("harm", one.harm, "}");
    between = ",";
  });
  if (json) std::printf("]}\n");
  return os::printed("polder-mistakes");
}

int tell(const tally& t) {
  std::printf(
      "{\"runs\": %u, \"noticed\": %u, \"died\": %u, \"told\": %u, \"unharmed\": %u, \"harmed\": %u, \"hung\": %u, "
      "\"absent\": %u, \"astray\": %u, ",
      t.runs, t.noticed, t.died, t.told, t.unharmed, t.harmed, t.hung, t.absent, t.astray);
  print_string("said", t.said, ", ");
  print_string("strange", t.strange, "}\n");
  return os::printed("polder-mistakes");
}

}  // namespace

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "list") == 0) return list(argc > 2 && std::strcmp(argv[2], "--json") == 0);
  if (std::strcmp(what, "make") == 0 && argc == 4) return make(argv[2], argv[3]);
  if (std::strcmp(what, "tally") == 0 && argc >= 5) {
    for (int i = 5; i < argc; i++)
      probe::expect(std::strchr(argv[i], '=') != nullptr, "'%s' is not NAME=VALUE", argv[i]);
    return tell(count(argv[2], unsigned(std::atoi(argv[3])), std::strtoull(argv[4], nullptr, 10), argv + 5));
  }
  probe::say("usage: polder-mistakes list [--json] | make NAME SEED | tally NAME RUNS FIRST_SEED [NAME=VALUE...]");
  return 2;
}
