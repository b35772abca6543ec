// Each probe of polder-probe over a malloc with each mistake that it names: it must fail; and over the same malloc without
// a mistake: it must pass. A probe that cannot fail shows here, and so does one that blames the innocent (in the short form of the
// tests a third of them is asked: elsewhere they all meet heaps that make no mistake).
//
//   notices_mistakes POLDER_PROBE BROKEN_MALLOC [PROBE…]
#include <atomic>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "../conformance/child_process.hpp"
#include "../full_form.hpp"

namespace {

using namespace conformance;

std::string field(const std::string& line, const std::string& name) {
  const std::string key = "\"" + name + "\": \"";
  const auto at = line.find(key);
  if (at == std::string::npos) return "";
  const auto from = at + key.size();
  return line.substr(from, line.find('"', from) - from);
}

// glibc and libstdc++, over which the mistakes are made, fail these themselves; double-free-later and -elsewhere now and
// then, for whether they end with a message or a segmentation fault hangs on where the kernel has put the heap.
constexpr const char* failed_by_libc[] = {"new-size-max",        "spike-work",           "spike-idle",
                                          "asynchronous-cancel", "signal-handler",       "double-free-large",
                                          "double-free-later",   "double-free-elsewhere"};

constexpr int no_such_mistake = 98;  // ../conformance/broken_malloc.cpp

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
  struct question {
    std::string probe, mistake;
  };
  std::vector<question> questions;
  for (const auto& line : lines_of(listed.out)) {
    const std::string probe = field(line, "name");
    std::istringstream mistakes(field(line, "mistake"));
    for (std::string mistake; chosen(probe) && std::getline(mistakes, mistake, '|');)
      questions.push_back({probe, mistake});
  }
  std::atomic<std::size_t> next{0};
  std::atomic<int> failures{0};
  const auto ask = [&](std::size_t at) {
    const question& q = questions[at];
    for (const auto& made : {q.mistake, std::string("none")}) {
      const bool expected = made == q.mistake;
      if (!expected && (fails_anyway(q.probe) || (at % 3 != 0 && !is_full_form()))) continue;
      // Long enough for a probe to pass; one that hangs because of the mistake need not be waited for as long. Some meet theirs
      // by chance, such as a fork while a lock is held: on a busy machine not always at once.
      bool failed = false;
      child_result result;
      for (int tries = expected ? 10 : 1; tries != 0 && !failed; --tries) {
        result = run_child({argv[1], "run", q.probe}, environment({preload, "MISTAKE=" + made}, {"POLDER_OPTIONS"}),
                           expected ? 15 : 240);
        failed = !result.exited(0) && !result.exited(77) && !result.exited(2) && !result.exited(no_such_mistake);
      }
      if (failed == expected) continue;
      ++failures;
      std::printf("%s with the mistake \"%s\": %s, %s%s\n", q.probe.c_str(), made.c_str(), result.how().c_str(),
                  result.out.c_str(), result.err.substr(0, 500).c_str());
    }
  };
  // More than half of the time goes in waiting for probes that sleep, or hang.
  std::vector<std::thread> askers;
  for (int i = 0; i != 3; ++i) {
    askers.emplace_back([&] {
      for (std::size_t at; (at = next++) < questions.size();) ask(at);
    });
  }
  for (auto& t : askers) t.join();
  std::printf("%zu mistakes of probes, %d that cannot fail or blame the innocent\n", questions.size(),
              failures.load());
  return questions.empty() || failures != 0;
}
