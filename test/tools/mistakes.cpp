// mistakes NAME — a program that makes one mistake with its memory, for a tool to find.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "by_name.hpp"

using polder::probe::opaque;

namespace {

using bytes = volatile char*;

bytes allocated(std::size_t n) { return static_cast<bytes>(opaque(std::malloc(n))); }
void given_back(bytes p) { std::free(opaque(const_cast<char*>(p))); }

[[gnu::noinline]] void leak() { allocated(123)[0] = 1; }

[[gnu::noinline]] void free_it(bytes p) { given_back(p); }

[[gnu::noinline]] void read_after_free() {
  const bytes p = allocated(40);
  p[7] = 1;
  free_it(p);
  opaque(p[7]);
}

[[gnu::noinline]] void write_after_free() {
  const bytes p = allocated(40);
  free_it(p);
  p[0] = 1;
}

[[gnu::noinline]] void large_after_free() {
  const bytes p = allocated(200'000);
  p[100'000] = 1;
  free_it(p);
  opaque(p[100'000]);
}

[[gnu::noinline]] void after_realloc() {
  const bytes p = allocated(40);
  p[7] = 1;
  const auto q = static_cast<bytes>(std::realloc(const_cast<char*>(p), 41));
  opaque(p[7]);
  given_back(q);
}

[[gnu::noinline]] void overrun() {
  const bytes p = allocated(10);
  p[10] = 1;
  given_back(p);
}

[[gnu::noinline]] void overrun_of_new() {
  auto* const p = opaque(static_cast<char*>(::operator new(48)));
  opaque(static_cast<bytes>(p)[48]);
  ::operator delete(p, 48);
}

[[gnu::noinline]] void underrun() {
  const bytes before = allocated(48), p = allocated(48);
  opaque(p[-1]);
  given_back(before);
  given_back(p);
}

[[gnu::noinline]] void uninitialised() {
  const bytes p = allocated(64);
  if (p[13] == 7) polder::probe::say("seven");
  given_back(p);
}

[[gnu::noinline]] void double_free() {
  const bytes p = allocated(40);
  free_it(p);
  given_back(p);
}

constexpr polder::tools::deed mistakes[] = {
    {"leak", leak},
    {"read_after_free", read_after_free},
    {"write_after_free", write_after_free},
    {"large_after_free", large_after_free},
    {"after_realloc", after_realloc},
    {"overrun", overrun},
    {"overrun_of_new", overrun_of_new},
    {"underrun", underrun},
    {"uninitialised", uninitialised},
    {"double_free", double_free},
};

// What the mistake left on the stack is no pointer to its block any more.
[[gnu::noinline]] void clear_the_stack() {
  char room[16384];
  std::memset(room, 0, sizeof room);
  opaque(static_cast<char*>(room));
}

}  // namespace

int main(int argc, char** argv) {
  polder::tools::make_by_name(argc, argv, mistakes);
  clear_the_stack();
}
