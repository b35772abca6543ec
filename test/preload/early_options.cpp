// POLDER_OPTIONS of a program whose first allocation comes before the C library knows the environment, out of a resolver of an indirect
// function (requirement 4): it is read all the same, whole or not at all.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "subject.hpp"

namespace {

void* kept;

int answer() { return 42; }

extern "C" int (*polder_test_resolver())() {
  kept = std::malloc(100);
  return answer;
}

int resolved() __attribute__((ifunc("polder_test_resolver")));

preload::child_result with(const std::string& options) {
  return preload::run_child({preload::self_path(), "ran"}, preload::environment({"POLDER_OPTIONS=" + options}), 20);
}

}  // namespace

int main(int argc, char**) {
  if (argc == 2) return std::puts("ran") < 0 || resolved() != 42 || kept == nullptr;
  preload::tally tally(1);
  const auto padded = [](std::size_t n, const std::string& options) { return std::string(n, ',') + options; };

  const auto long_one = with(padded(1500, "verbose=1,decay_ms=777"));
  tally.check(
      long_one.exited(0) && long_one.out == "ran\n" && long_one.err.find("decay_ms=777") != std::string::npos,
      "1,500 letters must be heard to the end", long_one);
  const auto wrong = with(padded(1500, "decay_ms=soon"));
  tally.check(wrong.exited(2) && wrong.err.find("soon") != std::string::npos, "a mistake at their end must show",
              wrong);
  for (const std::size_t n : {2030, 2040, 5000}) {
    const auto too_long = with(padded(n, "verbose=1,decay_ms=777"));
    tally.check(too_long.exited(2) && preload::lines_of(too_long.err).size() == 1 &&
                    too_long.err.find("letters") != std::string::npos,
                "what there is no room for must not be cut", too_long);
  }
  return tally.result();
}
