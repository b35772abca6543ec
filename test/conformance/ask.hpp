#pragma once
// ask — one case in a process of its own, so that a crash is an answer too and silences nobody else.
#include <csignal>

#include "catalogue.hpp"

namespace conformance {

struct answer {
  char text[1200] = {};
  int signal = 0;  // of which the child died; the text then says so

  bool hung() const { return signal == SIGALRM; }
};

void add_all(catalogue&);
const probe_case* find(const catalogue&, const char* id);

// A case that must begin in a fresh program is asked by running this very one again with `--one ID`, which main has to
// hand to answer_one.
answer ask(const probe_case&, unsigned seconds);
int answer_one(const catalogue&, const char* id);

}  // namespace conformance
