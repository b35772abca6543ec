// POLDER_OPTIONS, POLDER_TOPOLOGY and POLDER_NO_CHILDREN, as a program under the preload sees them (requirements 4 and 23).
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "subject.hpp"

namespace {

preload::child_result with(const std::string& options) {
  return preload::run_child({preload::self_path(), "ran"}, preload::environment({"POLDER_OPTIONS=" + options}), 20);
}

preload::child_result on(const std::string& machine) {
  return preload::run_child({preload::self_path(), "ran"},
                            preload::environment({"POLDER_OPTIONS=numa=on", "POLDER_TOPOLOGY=" + machine}), 20);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) return std::string(argv[1]) == "informed" ? ::malloc_info(0, stdout) : std::puts(argv[1]) < 0;
  const std::string library = preload::subject_library();
  preload::tally tally(4);

  struct {
    const char* options;
    const char* mentions[2];
  } const wrong[] = {
      {"arena_sise=1G", {"arena_sise", "arena_size"}},
      {"decay=5", {"decay", "decay_ms"}},
      {"Verbose=1", {"Verbose", "verbose"}},
      {"populat=1", {"populat", "populate"}},
      {"verbose=0,releese=free", {"releese", "release"}},
      {"decay_ms=soon", {"decay_ms", "soon"}},
      {"arena_size=12Q", {"arena_size", "12Q"}},
      {"thp=of", {"thp", "of"}},
      {"numa=yes", {"numa", "yes"}},
      {"release=never", {"release", "never"}},
      {"page_size=5000", {"page_size", "5000"}},
      {"stats=maybe", {"stats", "prometheus"}},
      {"decay_ms", {"decay_ms", "decay_ms"}},
      {"decay_ms=99999999999999999999999999", {"decay_ms", "9999"}},
      {"limit=lots", {"limit", "lots"}},
      {"targe=1M", {"targe", "target"}},
      {"cgroup=2", {"cgroup", "0 or 1"}},
      {"profil=x", {"profil", "profile"}},
      {"profile", {"profile", "a file's name"}},
      {"profile_rate=0", {"profile_rate", "1024G"}},
      {"profile_signal=USR2", {"USR2", "1 to 64"}},
      {"timelin=x", {"timelin", "timeline"}},
      {"timeline_events=0", {"timeline_events", "100000000"}},
      {"timeline_at_least=1ms", {"timeline_at_least", "nanoseconds"}},
  };
  for (const auto& w : wrong) {
    const auto r = with(w.options);
    const std::string what = std::string("POLDER_OPTIONS=") + w.options;
    tally.check(r.exited(2) && r.out.empty(), what + " must end with status 2", r);
    tally.check(preload::lines_of(r.err).size() == 1 && r.err.rfind("polder: ", 0) == 0,
                what + " must say one line", r);
    for (const char* word : w.mentions)
      tally.check(r.err.find(word) != std::string::npos, what + " must mention " + word, r);
  }
  for (const char* right : {"",
                            "arena_size=0",
                            "arena_size=64G",
                            "arena_size=256M",
                            "decay_ms=0",
                            "decay_ms=100000",
                            "release=free",
                            "release=dontneed",
                            "thp=off",
                            "thp=madvise",
                            "thp=on",
                            "thp=large",
                            "numa=off",
                            "numa=on",
                            "limit=1G",
                            "limit=0",
                            "target=64M",
                            "cgroup=0",
                            "populate=0",
                            "populate=1",
                            "verbose=0",
                            "stats=0",
                            "decay_ms=10,thp=off,populate=0"}) {
    const auto r = with(right);
    tally.check(r.exited(0) && r.out == "ran\n" && r.err.empty(),
                std::string("POLDER_OPTIONS=") + right + " must do its work in silence", r);
  }
  for (const char* machine : {"two", "2x", "0x4", "2x4 "}) {
    const auto r = on(machine);
    tally.check(r.exited(2) && preload::lines_of(r.err).size() == 1 &&
                    r.err.rfind("polder: POLDER_TOPOLOGY: ", 0) == 0 && r.err.find(machine) != std::string::npos,
                std::string("POLDER_TOPOLOGY=") + machine + " must say one line and end with status 2", r);
  }
  for (const char* machine : {"", "2x48", "/nowhere"}) {
    const auto r = on(machine);
    tally.check(r.exited(0) && r.out == "ran\n" && r.err.empty(),
                std::string("POLDER_TOPOLOGY=") + machine + " must do its work in silence", r);
  }
  const auto verbose = with("verbose=1,decay_ms=777");
  tally.check(verbose.exited(0) && preload::lines_of(verbose.err).size() == 1 &&
                  verbose.err.find("decay_ms=777") != std::string::npos,
              "verbose=1 must print the effective options in one line", verbose);
  const auto stats = with("stats=1");
  tally.check(stats.exited(0) && !stats.err.empty() && stats.out == "ran\n",
              "stats=1 must print statistics at the end", stats);
  const auto closing = preload::run_child({"/bin/ls", "/"}, preload::environment({"POLDER_OPTIONS=stats=1"}), 20);
  tally.check(closing.exited(0) && closing.err.rfind("polder: ", 0) == 0,
              "stats=1 must print statistics also of a program that closes standard error before it ends", closing);

  const std::string recording = "/tmp/polder-options-" + std::to_string(getpid());
  const auto recorded = with("timeline=" + recording);
  char beginning[9] = {};
  std::ifstream(recording, std::ios::binary).read(beginning, 8);
  std::remove(recording.c_str());
  tally.check(
      recorded.exited(0) && recorded.out == "ran\n" && recorded.err.empty() && beginning == std::string("POLDERTL"),
      "timeline=FILE must write it in silence", recorded);
  // Of the heaps without a profile, and of the one that has it. As `profile.by_signal` sees, files are written in silence.
  const auto unprofiled = with("profile=/no/where");
  tally.check(unprofiled.exited(0) && unprofiled.out == "ran\n" &&
                  unprofiled.err.find(library.find("/libpolder.so") != std::string::npos
                                          ? "/no/where"
                                          : "this heap has none") != std::string::npos,
              "a profile that cannot be written must be told, and the program must go on", unprofiled);
  const auto signalled = with("profile_signal=10");
  tally.check(
      signalled.exited(0) && signalled.out == "ran\n" && signalled.err.find("profile=FILE") != std::string::npos,
      "a profile_signal without a profile must be told, and the program must go on", signalled);
  const auto informed =
      preload::run_child({preload::self_path(), "informed"},
                         preload::environment({"POLDER_OPTIONS=profile_signal=10,profile=/no/a&b\"<c\x01"}), 20);
  tally.check(informed.exited(0) && informed.out.find("profile=/no/a&amp;b&quot;&lt;c?,") != std::string::npos,
              "malloc_info must be XML whatever the options are", informed);
  const auto nowhere = with("timeline=/no/where");
  tally.check(nowhere.exited(0) && nowhere.out == "ran\n" && preload::lines_of(nowhere.err).size() == 1 &&
                  nowhere.err.find("/no/where") != std::string::npos,
              "a timeline that cannot be written must say one line, and the program must go on", nowhere);

  auto shell = [&](const std::vector<std::string>& settings) {
    return preload::run_child(
        {"/bin/sh", "-c", "echo in:$LD_PRELOAD,$POLDER_NO_CHILDREN; grep -c polder /proc/self/maps; true"},
        preload::environment(settings), 20);
  };
  const auto inherited = shell({});
  tally.check(inherited.exited(0) && inherited.out.rfind("in:" + std::string(std::getenv("LD_PRELOAD")), 0) == 0,
              "children inherit the heap", inherited);
  const auto alone = shell({"POLDER_NO_CHILDREN=1"});
  tally.check(alone.exited(0) && alone.out == "in:,\n0\n" && alone.err.empty(),
              "POLDER_NO_CHILDREN=1: children run without the heap", alone);
  const std::string other = "libm.so.6";
  for (const std::string& list : {other + ":" + library, library + ":" + other, library + " " + other}) {
    const auto r = shell({"POLDER_NO_CHILDREN=1", "LD_PRELOAD=" + list});
    tally.check(r.exited(0) && r.out == "in:" + other + ",\n0\n",
                "POLDER_NO_CHILDREN=1 keeps other libraries of LD_PRELOAD=" + list, r);
  }
  return tally.result();
}
