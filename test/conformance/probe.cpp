// conformance probe — some hundreds of questions to a malloc, each answered in one line `id | answer`. Requirement 3.
//
//   probe --run [--together] [--wanted] [--only TEXT]   asks the malloc this program runs on and prints the answers;
//                                                       --wanted: does not ask what judges itself, `ok` is wanted
//   probe [--only TEXT] [--kept FILE]                   runs the above under glibc (no preload) and under the preload
//                                                       this program was started with, and prints where the answers
//                                                       differ. Empty is what is wanted
//   probe --keep FILE                                   writes down what glibc answers; --kept FILE: glibc need not be
//                                                       asked again
//
// Each question is asked in a fresh child, so that one crash does not silence the others; --together asks those that need
// no child of their own, one after the other, in one process, where each inherits the heap its predecessors left.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

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

int run(bool together, bool wanted, const char* only) {
  for (const probe_case& c : table) {
    if (!chosen(c, only) || (together && c.where != setting::plain)) continue;
    if (wanted && c.by == judge::itself) print(c, "ok");
    else if (together) answer_here(c);
    else print(c, ask(c, seconds_a_case).text);
  }
  return 0;
}

std::vector<std::string> arguments(const std::string& self, bool together, bool wanted, const char* only) {
  std::vector<std::string> result{self, "--run"};
  if (together) result.push_back("--together");
  if (wanted) result.push_back("--wanted");
  if (only != nullptr) result.insert(result.end(), {"--only", only});
  return result;
}

std::string self() {
  char path[4096] = {};
  return ::readlink("/proc/self/exe", path, sizeof path - 1) < 0 ? "" : path;
}

constexpr bool manners[] = {false, true};  // together?
constexpr char between_manners[] = "----";

// What glibc answers, a list a manner; empty if it cannot be asked.
std::vector<std::vector<std::string>> ask_glibc(const char* only) {
  std::vector<std::vector<std::string>> answers;
  for (const bool together : manners) {
    const auto want =
        run_child(arguments(self(), together, true, only), environment({}, {"LD_PRELOAD", "POLDER_OPTIONS"}), 400);
    answers.push_back(lines_of(want.out));
    if (want.exited(0) && (together || !answers.back().empty())) continue;
    std::fprintf(stderr, "conformance: the oracle itself failed (%s), %zu answers\n%s", want.how().c_str(),
                 answers.back().size(), want.err.c_str());
    return {};
  }
  return answers;
}

int keep(const char* file) {
  const auto answers = ask_glibc(nullptr);
  if (answers.empty()) return 1;
  std::ofstream out(file);
  for (const auto& list : answers) {
    for (const auto& line : list) out << line << '\n';
    out << between_manners << '\n';
  }
  out.flush();
  if (out.good()) return 0;
  std::fprintf(stderr, "conformance: cannot write %s\n", file);
  return 1;
}

std::vector<std::vector<std::string>> read_kept(const char* file, const char* only) {
  std::vector<std::vector<std::string>> answers(1);
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line == between_manners) answers.emplace_back();
    else if (only == nullptr || line.substr(0, line.find(" | ")).find(only) != std::string::npos)
      answers.back().push_back(line);
  }
  answers.pop_back();
  if (answers.size() == std::size(manners)) return answers;
  std::fprintf(stderr, "conformance: %s does not have glibc's answers\n", file);
  return {};
}

int compare(const char* only, const char* kept) {
  const char* preload = std::getenv("LD_PRELOAD");
  if (preload == nullptr || *preload == '\0') {
    std::fprintf(stderr, "conformance: no LD_PRELOAD, so there is nothing to compare with glibc\n");
    return 1;
  }
  const auto answers = kept == nullptr ? ask_glibc(only) : read_kept(kept, only);
  if (answers.empty()) return 1;
  int differences = 0;
  std::size_t asked = 0;
  for (const bool together : manners) {
    const char* manner = together ? "in one process" : "each in its own process";
    const auto have = run_child(arguments(self(), together, false, only), environment({}), 400);
    const auto& expected = answers[together];
    const auto found = lines_of(have.out);
    if (!have.exited(0) || found.size() != expected.size()) {
      ++differences;
      std::printf("requirement 3, %s: %s after: %s\n%s", manner, have.how().c_str(),
                  found.empty() ? "nothing" : found.back().c_str(), have.err.c_str());
    }
    for (std::size_t i = 0; i < expected.size() && i < found.size(); ++i) {
      ++asked;
      if (found[i] == expected[i]) continue;
      ++differences;
      std::printf("requirement 3, %s\n   want  %s\n   have  %s\n", manner, expected[i].c_str(), found[i].c_str());
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
  const char *only = nullptr, *kept = nullptr;
  bool running = false, together = false, wanted = false;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--run") running = true;
    else if (a == "--together") together = true;
    else if (a == "--wanted") wanted = true;
    else if (a == "--only" && i + 1 < argc) only = argv[++i];
    else if (a == "--keep" && i + 1 < argc) return keep(argv[++i]);
    else if (a == "--kept" && i + 1 < argc) kept = argv[++i];
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
  return running ? run(together, wanted, only) : compare(only, kept);
}
