// conformance probe — some hundreds of questions to a malloc, each answered in one line `id | answer`. Requirement 3.
//
//   probe --run [--together] [--only TEXT]   asks the malloc this program runs on and prints the answers
//   probe [--only TEXT]                      runs the above under glibc (no preload) and under the preload this program
//                                            was started with, and prints where the answers differ. Empty is what is wanted
//
// Each question is asked in a fresh child, so that one crash does not silence the others; --together asks them all, one
// after the other, in one process, where each inherits the heap its predecessors left.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "ask.hpp"
#include "child_process.hpp"

namespace conformance {
namespace {

constexpr unsigned seconds_a_case = 60;

catalogue table;

// stdio would allocate: the answer is written as it stands.
void print(const probe_case& asked, const char* text) {
  char line[1400];
  const int n = std::snprintf(line, sizeof line, "%s | %s\n", asked.id, text);
  if (::write(1, line, static_cast<std::size_t>(n)) != n) ::_exit(3);
}

void answer_here(const probe_case& asked) {
  report found;
  asked.run(found, asked.a, asked.b);
  print(asked, found.text());
}

bool chosen(const probe_case& c, const char* only) { return only == nullptr || std::strstr(c.id, only) != nullptr; }

int run(bool together, const char* only) {
  for (const probe_case& c : table) {
    if (!chosen(c, only)) continue;
    if (together && c.where == setting::plain) answer_here(c);
    else print(c, ask(c, seconds_a_case).text);
  }
  return 0;
}

std::vector<std::string> arguments(const std::string& self, bool together, const char* only) {
  std::vector<std::string> result{self, "--run"};
  if (together) result.push_back("--together");
  if (only != nullptr) result.insert(result.end(), {"--only", only});
  return result;
}

int compare(const char* only) {
  const char* preload = std::getenv("LD_PRELOAD");
  if (preload == nullptr || *preload == '\0') {
    std::fprintf(stderr, "conformance: no LD_PRELOAD, so there is nothing to compare with glibc\n");
    return 1;
  }
  char self[4096] = {};
  if (::readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 1;
  int differences = 0;
  std::size_t asked = 0;
  for (bool together : {false, true}) {
    const char* manner = together ? "in one process" : "each in its own process";
    const auto want =
        run_child(arguments(self, together, only), environment({}, {"LD_PRELOAD", "POLDER_OPTIONS"}), 400);
    const auto have = run_child(arguments(self, together, only), environment({}), 400);
    const auto expected = lines_of(want.out);
    const auto found = lines_of(have.out);
    if (!want.exited(0) || expected.empty()) {
      std::fprintf(stderr, "conformance: the oracle itself failed (%s), %zu answers\n%s", want.how().c_str(),
                   expected.size(), want.err.c_str());
      return 1;
    }
    if (!have.exited(0)) {
      ++differences;
      std::printf("requirement 3, %s: %s after: %s\n%s", manner, have.how().c_str(),
                  found.empty() ? "nothing" : found.back().c_str(), have.err.c_str());
    }
    for (std::size_t i = 0; i < expected.size() && i < found.size(); ++i) {
      ++asked;
      const std::string id = expected[i].substr(0, expected[i].find(" | "));
      const probe_case* c = find(table, id.c_str());
      const std::string wanted = c != nullptr && c->by == judge::itself ? id + " | ok" : expected[i];
      if (found[i] == wanted) continue;
      ++differences;
      std::printf("requirement 3, %s\n   want  %s\n   have  %s\n", manner, wanted.c_str(), found[i].c_str());
    }
    if (!have.err.empty() && differences != 0)
      std::printf("stderr, %s:\n%s\n", manner, have.err.substr(0, 4000).c_str());
  }
  std::printf("conformance: %zu answers compared with glibc's, %d differ (%s)\n", asked, differences, preload);
  return differences == 0 ? 0 : 1;
}

}  // namespace
}  // namespace conformance

int main(int argc, char** argv) {
  using namespace conformance;
  add_all(table);
  const char* only = nullptr;
  bool running = false, together = false;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--run") running = true;
    else if (a == "--together") together = true;
    else if (a == "--only" && i + 1 < argc) only = argv[++i];
    else if (a == "--one" && i + 1 < argc) return answer_one(table, argv[++i]);
    else if (a == "--list") {
      for (const probe_case& c : table) std::puts(c.id);
      return 0;
    } else {
      std::fprintf(stderr, "probe: unknown argument %s\n", argv[i]);
      return 2;
    }
  }
  bool any = false;
  for (const probe_case& c : table) any = any || chosen(c, only);
  if (!any) {
    std::fprintf(stderr, "probe: no case has \"%s\" in its id\n", only);
    return 2;
  }
  return running ? run(together, only) : compare(only);
}
