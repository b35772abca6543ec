// polder-probe — what a malloc must do, asked of the one this program runs on.
//
//   polder-probe list [--json]     the probes
//   polder-probe run NAME          one of them, here and now; how it ends tells (probe.hpp)
//
// A plain user of malloc: the one under test is preloaded. `./polder conform` runs them all and prints the matrix.
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include <polder/os/printed.hpp>

#include "../probe/json.hpp"
#include "probe.hpp"

namespace polder::conform {
namespace {

using probe::print_string;

template <class F>
void for_each_probe(F f) {
  for (auto probes : {language_probes(), case_probes(), fork_probes(), thread_probes(), loading_probes(),
                      memory_probes(), signal_probes(), misuse_probes()})
    for (const auto& one : probes) f(one);
}

// Sorted by group, in the order of the table of groups.
template <class F>
void for_each_in_order(F f) {
  for (const auto& g : groups)
    for_each_probe([&](const demand& one) {
      if (std::strcmp(one.group, g.name) == 0) f(g, one);
    });
}

int list(bool json) {
  const char* between = "";
  if (json) {
    std::printf("{\"groups\": [");
    for (const auto& g : groups) {
      std::printf("%s\n  {", between);
      print_string("name", g.name, ", ");
      print_string("title", g.title, ", ");
      std::printf("\"demanded\": %s}", g.demanded ? "true" : "false");
      between = ",";
    }
    std::printf("],\n \"probes\": [");
    between = "";
  }
  for_each_in_order([&](const group&, const demand& one) {
    if (!json) return std::printf("%-28s %s\n", one.name, one.what), void();
    std::printf("%s\n  {", between);
    print_string("name", one.name, ", ");
    print_string("group", one.group, ", ");
    print_string("demand", one.what, ", ");
    print_string("source", one.source, ", ");
    print_string("mistake", one.mistake, ", ");
    std::printf("\"seconds\": %u}", one.seconds);
    between = ",";
  });
  if (json) std::printf("]}\n");
  return os::printed("polder-probe");
}

int run(const char* name) {
  const demand* found = nullptr;
  for_each_probe([&](const demand& one) {
    if (std::strcmp(one.name, name) == 0) found = &one;
  });
  if (found == nullptr) {
    std::fprintf(stderr, "polder-probe: there is no probe '%s'; `polder-probe list` names them\n", name);
    return 2;
  }
  if (found->run != nullptr) found->run();
  else ask_cases(*found);
  return 0;
}

}  // namespace

void note(const char* format, ...) {
  char text[1000];
  va_list list;
  va_start(list, format);
  int n = std::vsnprintf(text, sizeof text - 1, format, list);
  va_end(list);
  if (n > int(sizeof text) - 2) n = int(sizeof text) - 2;
  text[n++] = '\n';
  [[maybe_unused]] auto written = ::write(1, text, static_cast<std::size_t>(n));
}

}  // namespace polder::conform

int main(int argc, char** argv) {
  using namespace polder::conform;
  const auto is = [&](int count, const char* word) { return argc == count && std::strcmp(argv[1], word) == 0; };
  if (is(2, "list")) return list(false);
  if (is(3, "list") && std::strcmp(argv[2], "--json") == 0) return list(true);
  if (is(3, "run")) return run(argv[2]);
  if (is(3, "--one")) return answer_case(argv[2]);
  if (is(3, "stage")) return loading_stage(argv[2]);
  if (is(3, "commit")) return commit(argv[2]);
  std::fprintf(stderr, "usage: polder-probe list [--json] | run NAME\n");
  return 2;
}
