// Requirement 17: under an option that writes a file the process makes, to its very end, the documented system calls and those of the
// option, and no other.
#include <unistd.h>

#include <cstring>
#include <string>

#include "../probe/again.hpp"
#include "allow_only.hpp"
#include "documented_calls.hpp"
#include "scenario.hpp"

using namespace polder;
using namespace polder::faults;

static int work(std::span<const long> calls_of_option) {
  scenario::run(1);
  probe::expect(::dprintf(1, "%d", int(::getpid())) > 0, "dprintf");
  allow_only({documented_calls, tolerated_calls, calls_of_option});
  for (std::uint32_t seed = 2; seed <= 4; seed++) scenario::run(seed);
  return 0;
}

// Runs it, and takes away what it has written: the file, or the file's name with the process's number and these endings.
static void hold(const char* option, std::initializer_list<const char*> endings) {
  const std::string file = "option_calls." + std::to_string(::getpid());
  const std::string options = std::string("POLDER_OPTIONS=profile_rate=4096,") + option + '=' + file;
  const char* const arguments[] = {option, nullptr};
  const char* const settings[] = {options.c_str(), nullptr};
  const probe::outcome result = probe::run_again(arguments, settings, 60);
  bool written = true;
  for (const char* const ending : endings) {
    const std::string one = *ending == '\0' ? file : file + '.' + result.out + ending;
    written &= ::unlink(one.c_str()) == 0;
  }
  char how[128];
  result.describe(how, sizeof how);
  probe::expect(result.passed(), "%s: %s: %s", option, how, result.err);
  probe::expect(written, "%s: a file is missing", option);
}

int main(int argc, char** argv) {
  ::alarm(150);
  if (argc > 1) return std::strcmp(argv[1], "profile") == 0 ? work(profile_calls) : work(timeline_calls);
  if (::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0) probe::skip("no seccomp here");
  hold("profile", {".heap", ".waste"});
  hold("timeline", {""});
}
