// Mistakes with free. The behaviour is undefined, so nothing is demanded: the matrix tells who notices, and what it says.
#include <sys/mman.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "../probe/again.hpp"
#include "../probe/block.hpp"
#include "../probe/opaque.hpp"
#include "../threads/crew.hpp"
#include "probe.hpp"

namespace polder::conform {
namespace {

using probe::block;
using probe::give_back;
using probe::opaque;

struct mistake {
  const char* name;
  void (*make)();
};
alignas(64) char standing[4096];
const mistake mistakes[] = {
    {"double-free",
     [] {
       void* p = block(64);
       give_back(p);
       give_back(p);
     }},
    {"double-free-later",
     [] {
       void* others[20];
       for (auto& q : others) q = block(64);
       void* p = others[10];
       for (auto* q : others) give_back(q);
       give_back(p);
     }},
    {"double-free-large",
     [] {
       void* p = block(1 << 20);
       give_back(p);
       give_back(p);
     }},
    {"double-free-elsewhere",
     [] {
       void* p = block(64);
       ::pthread_join(threads_test::start(
                          [](void* q) -> void* {
                            give_back(q);
                            return nullptr;
                          },
                          p),
                      nullptr);
       give_back(p);
     }},
    {"free-inside", [] { give_back(static_cast<char*>(block(256)) + 64); }},
    {"free-stack",
     [] {
       alignas(64) char here[4096];
       give_back(opaque(here) + 1024);
     }},
    {"free-static", [] { give_back(standing + 1024); }},
    {"free-mapping",
     [] {
       void* p = ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
       give_back(static_cast<char*>(p) + 4096);
     }},
};

// The first line that it wrote; nothing if there is none.
const char* first_line(probe::outcome& told) {
  char* end = std::strchr(told.err, '\n');
  if (end != nullptr) *end = '\0';
  return told.err;
}

void commit_and_watch(const char* name) {
  const char* args[] = {"commit", name, nullptr};
  const char* none[] = {nullptr};
  auto told = probe::run_again(args, none, 10);
  const char* said = first_line(told);
  if (told.timed_out) probe::end(probe::verdict::hung, "no end in 10 s; it said: %s", *said ? said : "nothing");
  const int s = told.signal();
  const bool on_purpose = s == SIGABRT || s == SIGTRAP || s == SIGILL;
  if (*said != '\0') return note("%s%s", said, s == 0 ? " (and it went on)" : "");
  if (on_purpose) return note("ended without a word: %s", ::strsignal(s));
  if (s != 0) probe::end(probe::verdict::crashed, "%s, without a word", ::strsignal(s));
  probe::end(probe::verdict::wrong, "not noticed: the program went on");
}

template <const auto& name>
void watch() {
  commit_and_watch(name);
}
constexpr char at_once[] = "double-free", later[] = "double-free-later", large[] = "double-free-large",
               elsewhere[] = "double-free-elsewhere", inside[] = "free-inside", stack[] = "free-stack",
               static_memory[] = "free-static", mapping[] = "free-mapping";

constexpr const char* unnoticed = "mistakes are not noticed";
const demand probes[] = {
    {at_once, "misuse", "a block is freed twice, at once", "none: undefined", unnoticed, 20, watch<at_once>},
    {later, "misuse", "a block is freed twice, others between", "none: undefined", unnoticed, 20, watch<later>},
    {large, "misuse", "a block of 1 MiB is freed twice", "none: undefined", unnoticed, 20, watch<large>},
    {elsewhere, "misuse", "a block is freed by another thread, then by its own", "none: undefined", unnoticed, 20,
     watch<elsewhere>},
    {inside, "misuse", "a pointer into a block is freed", "none: undefined", unnoticed, 20, watch<inside>},
    {stack, "misuse", "a pointer to the stack is freed", "none: undefined", unnoticed, 20, watch<stack>},
    {static_memory, "misuse", "a pointer to a static object is freed", "none: undefined", unnoticed, 20,
     watch<static_memory>},
    {mapping, "misuse", "a pointer into the program's own mapping is freed", "none: undefined", unnoticed, 20,
     watch<mapping>},
};

}  // namespace

std::span<const demand> misuse_probes() { return probes; }

// Makes the mistake, then goes on as a program would: what was damaged shows now or never.
int commit(const char* name) {
  for (const auto& m : mistakes) {
    if (std::strcmp(m.name, name) != 0) continue;
    m.make();
    void* kept[2000];
    for (auto& p : kept) p = block(64);
    for (auto* p : kept) give_back(p);
    ::_exit(0);
  }
  return 2;
}

}  // namespace polder::conform
