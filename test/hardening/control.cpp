// No mistake: a heap that notices something here blames the innocent.
#include "../probe/elsewhere.hpp"
#include "life.hpp"

namespace polder::hardening {
namespace {

effect nothing(random& r) {
  const auto size = small(r);
  void* p = made(size, 1);
  void* l = made(large(r), 2);
  void* moved = opaque(std::realloc(opaque(std::calloc(1, size)), size * 4));
  probe::elsewhere([](void* q) { probe::unmade(q); }, p);
  probe::unmade(l);
  give_back(moved);
  return worse(go_on(size), go_on_large(1 << 20));
}

constexpr mistake all[] = {
    {"none", "control", "no mistake at all: nothing may be noticed", "a block is damaged", nothing},
};

}  // namespace

std::span<const mistake> control() { return all; }

}  // namespace polder::hardening
