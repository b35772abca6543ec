// One run of one mistake, which ends the process.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "../probe/expect.hpp"
#include "life.hpp"

namespace polder::hardening {

int make(const char* name, const char* seed) {
  const mistake* found = nullptr;
  for_every_mistake([&](const mistake& one) {
    if (std::strcmp(one.name, name) == 0) found = &one;
  });
  if (found == nullptr) {
    probe::say("there is no mistake '%s'", name);
    return 2;
  }
  // Neighbouring seeds, and the same one for another mistake, have nothing in common.
  random r(std::strtoull(seed, nullptr, 10));
  for (const char* c = name; *c != '\0'; ++c) r = random(r.next() + static_cast<unsigned char>(*c));
  live_a_little(r);
  switch (found->make(r)) {
    case effect::none: ::_exit(0);
    case effect::harm: ::_exit(int(probe::verdict::wrong));
    case effect::not_applicable: ::_exit(int(probe::verdict::not_applicable));
  }
  __builtin_unreachable();
}

}  // namespace polder::hardening
