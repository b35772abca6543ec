#pragma once
// probe — one demand on a malloc: where it comes from, and a program's few lines that find out whether it is met.
//
// A probe runs in a process of its own and ends it: status 0 when the demand is met, else the statuses of
// ../probe/expect.hpp, with one line of evidence on standard error. What it writes to standard output is a note.
#include <span>

#include "../probe/expect.hpp"

namespace polder::conform {

struct group {
  const char* name;
  const char* title;
  bool demanded;  // false: no standard and no manual asks for it; a failure is told and not counted
};

inline constexpr group groups[] = {
    {"c", "C and C++ standards", true},
    {"posix", "POSIX", true},
    {"fork", "Fork", true},
    {"threads", "Threads", true},
    {"loading", "Loading and ending", true},
    {"glibc", "What Linux and glibc add", true},
    {"memory", "Memory comes back", false},
    {"beyond", "Beyond the standards", false},
    {"misuse", "Mistakes that are noticed", false},
};

// What must hold of the answers to the cases of ../conformance that a pattern (of fnmatch) chooses.
struct expectation {
  const char* pattern;
  const char* has = nullptr;    // nullptr: the answer must be "ok"; ^ is where it begins, $ where it ends
  const char* lacks = nullptr;  // words that must not be in it, separated by |
};

struct demand {
  const char* name;
  const char* group;
  const char* what;
  const char* source;
  const char* mistake;  // of ../conformance/broken_malloc.cpp: those that this probe must notice, separated by |
  unsigned seconds;     // after which it counts as hanging
  void (*run)();        // nullptr: it asks the cases below
  std::span<const expectation> expected = {};
  const char* forgives = nullptr;  // parts of answers that are another probe's affair, separated by |
};

std::span<const demand> language_probes();  // language.cpp
std::span<const demand> case_probes();      // cases.cpp
std::span<const demand> fork_probes();      // forks.cpp
std::span<const demand> thread_probes();    // threads.cpp
std::span<const demand> loading_probes();   // loading.cpp
std::span<const demand> memory_probes();    // memory.cpp
std::span<const demand> signal_probes();    // signals.cpp
std::span<const demand> misuse_probes();    // misuse.cpp

// Runs the cases of a probe that has no program of its own, and ends the process where one is not as expected.
void ask_cases(const demand&);
int answer_case(const char* id);

// What a probe does in a program of its own: `polder-probe stage NAME`.
int loading_stage(const char* name);  // -1: there is no such stage
int commit(const char* mistake);

// A note, for people.
[[gnu::format(printf, 1, 2)]] void note(const char* format, ...);

}  // namespace polder::conform
