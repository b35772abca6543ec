#pragma once
// tally — a mistake made many times, each time by a process of its own, and how they ended. The program that calls this makes
// the mistake itself when it is called with `make NAME SEED`.
#include <cstdint>

#include "../probe/again.hpp"

namespace polder::hardening {

struct tally {
  unsigned runs = 0;
  unsigned noticed = 0;    // it said so, and ended the process
  unsigned died = 0;       // the process died without a word
  unsigned told = 0;       // it said so, and went on without harm
  unsigned unharmed = 0;   // it went on, and there was no harm
  unsigned harmed = 0;     // it went on, and the mistake succeeded
  unsigned hung = 0;       // or no end
  unsigned absent = 0;     // it cannot be made here
  unsigned astray = 0;     // ended as no mistake ends: the program or the heap does not run here
  char said[240] = {};     // the first line that was ever said
  char strange[240] = {};  // how the first one went astray

  bool in_order() const { return astray == 0; }
  unsigned made() const { return runs - absent; }
};

// `settings`: NAME=VALUE, ended by nullptr. Seeds count from `seed`. After three that hang no more are made.
tally count(const char* mistake, unsigned runs, std::uint64_t seed, const char* const* settings);

}  // namespace polder::hardening
