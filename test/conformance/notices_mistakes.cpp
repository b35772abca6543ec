// Runs the probe over a malloc with one mistake after the other: it must name each, and nothing where there is none.
//
//   notices_mistakes PROBE BROKEN_MALLOC
#include <cstdio>

#include "child_process.hpp"

int main(int argc, char** argv) {
  using namespace conformance;
  if (argc != 3) return 2;
  struct {
    const char* mistake;
    const char* only;  // the cases that ask for it
  } const mistakes[] = {
      {"8 bytes are 8-aligned", "16-aligned: sizes 0 to"},
      {"no ENOMEM", "PTRDIFF_MAX+1: malloc"},
      {"size 0 is NULL", "size 0: malloc"},
      {"calloc multiplies", "calloc overflow 2^32*2^32"},
      {"calloc forgets the end", "calloc after dirty frees from 1024"},
      {"realloc loses a byte", "realloc from 8192 to"},
      {"realloc to 0 is a block", "realloc(p,0) of 100"},
      {"free changes errno", "free keeps errno"},
      {"any alignment will do", "posix_memalign(24)"},
      {"alignment ends at a page", "aligned_alloc: alignment 65536"},
      {"usable size lies", "whole usable size, 1024"},
      {"mallinfo counts twice", "mallinfo2 adds up with 10 blocks of 4M"},
      {"large blocks are not freed", "freed is reused: 3145728"},
      {"no memory is an abort", "exhaust by malloc of 100000"},
      {"no new_handler", "new: new_handler is called again"},
      {"new_handler is called once", "new: new_handler is called again"},
  };
  int failures = 0;
  const std::string preload = std::string("LD_PRELOAD=") + argv[2];
  for (const auto& m : mistakes)
    for (const char* name : {m.mistake, "none"}) {
      const bool expected = name == m.mistake;
      const auto result = run_child({argv[1], "--only", m.only},
                                    environment({preload, std::string("MISTAKE=") + name}, {"POLDER_OPTIONS"}), 60);
      const bool named = result.out.find(m.only) != std::string::npos;
      if (result.exited(expected ? 1 : 0) && named == expected) continue;
      ++failures;
      std::printf("requirement 3: with the mistake \"%s\" the probe said (%s):\n%s%s\n", name, result.how().c_str(),
                  result.out.c_str(), result.err.c_str());
    }
  // Else a name that is misspelt would be no mistake, or none that is made.
  const auto misspelt = run_child({argv[1], "--list"}, environment({preload, "MISTAKE=no ENOMEN"}), 20);
  if (!misspelt.exited(98) || misspelt.err.find("there is no such mistake") == std::string::npos) {
    ++failures;
    std::printf("a mistake that there is not: %s\n", misspelt.how().c_str());
  }
  std::printf("%zu mistakes, %d not noticed or wrongly noticed\n", sizeof mistakes / sizeof mistakes[0], failures);
  return failures == 0 ? 0 : 1;
}
