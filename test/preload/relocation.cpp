// The earliest moment (requirement 4): a program's resolver of an indirect function allocates while the program is being
// relocated, before any constructor has run.
#include <cstdio>
#include <cstring>

#include "../conformance/calls.hpp"

namespace {

void* from_resolver;
int answer() { return 42; }

}  // namespace

extern "C" int (*resolve_answer())() {
  from_resolver = ::malloc(500);
  void* more = ::calloc(1, 100'000);
  if (more == nullptr || static_cast<char*>(more)[99'999] != 0) return nullptr;
  ::free(::realloc(more, 200'000));
  return answer;
}
extern "C" int indirect_answer() __attribute__((ifunc("resolve_answer")));

int main() {
  if (indirect_answer() != 42 || from_resolver == nullptr)
    return std::printf("requirement 4: no memory in a resolver\n"), 1;
  std::memset(from_resolver, 1, 500);
  from_resolver = conformance::subject::realloc(from_resolver, 5000);
  conformance::subject::free(from_resolver);
}
