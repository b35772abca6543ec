#include "tally.hpp"

#include "mistake.hpp"

namespace polder::hardening {
namespace {

constexpr unsigned patience = 10;  // seconds: a thousand times what a run takes
constexpr unsigned most_hung = 3;

template <std::size_t n>
void keep_first_line(char (&to)[n], const char* text) {
  if (to[0] == '\0') std::snprintf(to, n, "%.*s", int(std::strcspn(text, "\n")), text);
}

void add(tally& t, const probe::outcome& o) {
  const bool spoke = o.err_size != 0;
  ++t.runs;
  if (o.timed_out) {
    ++t.hung;
  } else if (o.signal() != 0) {
    ++(spoke ? t.noticed : t.died);
  } else if (WEXITSTATUS(o.status) == 0) {
    ++(spoke ? t.told : t.unharmed);
  } else if (WEXITSTATUS(o.status) == int(probe::verdict::wrong)) {
    ++t.harmed;
  } else if (WEXITSTATUS(o.status) == int(probe::verdict::not_applicable)) {
    ++t.absent;
  } else {
    ++t.astray;
    char how[128];
    o.describe(how, sizeof how);
    char text[240];
    std::snprintf(text, sizeof text, "%s: %.100s", how, spoke ? o.err : "not a word");
    keep_first_line(t.strange, text);
  }
  if (spoke) keep_first_line(t.said, o.err);
}

}  // namespace

tally count(const char* mistake, unsigned runs, std::uint64_t seed, const char* const* settings) {
  tally t;
  for (; t.runs < runs && t.hung < most_hung; ++seed) {
    char number[24];
    std::snprintf(number, sizeof number, "%llu", static_cast<unsigned long long>(seed));
    const char* args[] = {"make", mistake, number, nullptr};
    add(t, probe::run_again(args, settings, patience));
  }
  return t;
}

}  // namespace polder::hardening
