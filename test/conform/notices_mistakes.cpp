// Each probe of polder-probe over a malloc with the mistake that it names: it must fail; and over the same malloc without
// a mistake: it must pass. A probe that cannot fail shows here, and so does one that blames the innocent.
//
//   notices_mistakes POLDER_PROBE BROKEN_MALLOC [PROBE…]
#include <cstdio>
#include <cstring>

#include "../conformance/child_process.hpp"

namespace {

using namespace conformance;

std::string field(const std::string& line, const std::string& name) {
  const std::string key = "\"" + name + "\": \"";
  const auto at = line.find(key);
  if (at == std::string::npos) return "";
  const auto from = at + key.size();
  return line.substr(from, line.find('"', from) - from);
}

// glibc and libstdc++, over which the mistakes are made, fail these themselves; double-free-later now and then, for
// whether it ends with a message or a segmentation fault hangs on where the kernel has put the heap.
constexpr const char* failed_by_libc[] = {"new-size-max",        "spike-work",     "spike-idle",
                                          "asynchronous-cancel", "signal-handler", "double-free-large",
                                          "double-free-later"};

bool fails_anyway(const std::string& probe) {
  for (const char* name : failed_by_libc)
    if (probe == name) return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto chosen = [&](const std::string& name) {
    for (int i = 3; i < argc; ++i)
      if (name == argv[i]) return true;
    return argc == 3;
  };
  const std::string preload = std::string("LD_PRELOAD=") + argv[2];
  const auto listed = run_child({argv[1], "list", "--json"}, environment({}, {"LD_PRELOAD"}), 20);
  int asked = 0, failures = 0;
  for (const auto& line : lines_of(listed.out)) {
    const std::string name = field(line, "name"), mistake = field(line, "mistake");
    if (mistake.empty() || !chosen(name)) continue;
    ++asked;
    for (const auto& made : {mistake, std::string("none")}) {
      const bool expected = made == mistake;
      if (!expected && fails_anyway(name)) continue;
      // Long enough for a probe to pass; one that hangs because of the mistake need not be waited for as long.
      const auto result =
          run_child({argv[1], "run", name}, environment({preload, "MISTAKE=" + made}, {"POLDER_OPTIONS"}),
                    expected ? 15 : 240);
      const bool failed = !result.exited(0) && !result.exited(77) && !result.exited(2);
      if (failed == expected) continue;
      ++failures;
      std::printf("%s with the mistake \"%s\": %s, %s%s\n", name.c_str(), made.c_str(), result.how().c_str(),
                  result.out.c_str(), result.err.substr(0, 500).c_str());
    }
  }
  std::printf("%d probes, %d that cannot fail or blame the innocent\n", asked, failures);
  return asked == 0 || failures != 0;
}
