// Guesses of where a block will be: what attacks on a heap begin with. Harm: the guess is right.
#include "life.hpp"

namespace polder::hardening {
namespace {

// The block freed last comes next.
effect last_freed(random& r) {
  const auto size = small(r);
  char* p = block(size);
  give_back(p);
  return harm_if(block(size) == p);
}

// As far from the second as the second is from the first.
effect in_sequence(random& r) {
  const auto size = small(r);
  char* a = block(size);
  char* b = block(size);
  return harm_if(block(size) - b == b - a);
}

// Of two blocks allocated one after the other, one begins within 64 bytes of the other's end.
effect neighbours(random& r) {
  const auto size = small(r);
  char* a = block(size);
  char* b = block(size);
  const auto behind = [size](const char* p, const char* q) { return q >= p + size && q - (p + size) < 64; };
  return harm_if(behind(a, b) || behind(b, a));
}

// The order in which blocks were freed, turned round, is that in which they come.
effect order(random& r) {
  const auto size = small(r);
  std::array<char*, 8> all;
  for (auto& p : all) p = block(size);
  for (auto* p : all) give_back(p);
  bool right = true;
  for (std::size_t i = all.size(); i-- != 0;) right &= block(size) == all[i];
  return harm_if(right);
}

constexpr mistake all[] = {
    {"next-is-last-freed", "guess", "the next block is the one freed last", "it is", last_freed},
    {"next-in-sequence", "guess", "the third block is as far from the second as that from the first", "it is",
     in_sequence},
    {"neighbours", "guess", "two blocks made one after the other lie side by side", "they do", neighbours},
    {"reverse-order", "guess", "eight freed blocks come back, the last first", "they do", order},
};

}  // namespace

std::span<const mistake> guesses() { return all; }

}  // namespace polder::hardening
