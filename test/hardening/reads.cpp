// Reads of what was somebody's. Harm: a secret is seen.
#include "life.hpp"

namespace polder::hardening {
namespace {

// A word that is nowhere by chance.
std::uint64_t secret(random& r) { return r.next() | 0x0101010101010101; }

void fill(void* p, std::size_t size, std::uint64_t word) {
  for (std::size_t i = 0; i + sizeof word <= size; i += sizeof word)
    std::memcpy(static_cast<char*>(p) + i, &word, sizeof word);
  opaque(p);
}

bool sees(const void* p, std::size_t size, std::uint64_t word) {
  const char* bytes = opaque(static_cast<const char*>(p));
  for (std::size_t i = 0; i + sizeof word <= size; i++) {
    std::uint64_t there;
    std::memcpy(&there, bytes + i, sizeof there);
    if (there == word) return true;
  }
  return false;
}

effect freed(random& r) {
  const auto size = small(r) + 16;
  const auto word = secret(r);
  void* p = block(size);
  fill(p, size, word);
  give_back(p);
  return harm_if(sees(p, size, word));
}

// Others of its size have been allocated since: it may be somebody else's.
effect freed_and_reused(random& r) {
  constexpr std::size_t most = 200;
  const auto size = small(r) + 16;
  const auto word = secret(r);
  void* p = block(size);
  give_back(p);
  for (std::uint64_t i = 1 + r.below(most); i != 0; i--) fill(block(size), size, word);
  return harm_if(sees(p, size, word));
}

constexpr std::size_t many = 300;

effect beyond(random& r) {
  const auto size = small(r) + 16;
  const auto word = secret(r);
  std::array<char*, many> all;
  for (auto& p : all) fill(p = block(size), size, word);
  char* p = all[r.below(many)];
  fill(p, size, 0);
  // Those of its size alone are looked at, and not where p ends in the middle of a word.
  return harm_if(sees(p + size, 256, word));
}

template <class Allocate>
effect again(random& r, Allocate allocate) {
  const auto size = small(r) + 16;
  const auto word = secret(r);
  std::array<void*, many> all;
  for (auto& p : all) fill(p = block(size), size, word);
  for (auto* p : all) give_back(p);
  bool seen = false;
  for (std::size_t i = 0; i < 2 * many; i++) {
    void* p = allocate(size);
    probe::expect(p != nullptr, "no block of %zu bytes", size);
    seen |= sees(p, size, word);
  }
  return harm_if(seen);
}

effect recycled(random& r) {
  return again(r, [](std::size_t size) { return opaque(std::malloc(size)); });
}
effect recycled_by_calloc(random& r) {
  return again(r, [](std::size_t size) { return opaque(std::calloc(1, size)); });
}

// What is behind the old end after realloc, where freed blocks were.
effect grown(random& r) {
  return again(r, [](std::size_t size) {
    auto* p = static_cast<char*>(opaque(std::realloc(opaque(std::malloc(size / 2)), size)));
    std::memset(p, 0, size / 2);
    return opaque(static_cast<void*>(p));
  });
}

effect freed_large(random& r) {
  const auto size = large(r);
  const auto word = secret(r);
  char* p = block(size);
  fill(p, size, word);
  give_back(p);
  return harm_if(sees(p + 4096 * r.below(size / 4096), 4096, word));
}

effect recycled_large(random& r) {
  const auto size = large(r);
  const auto word = secret(r);
  void* p = block(size);
  fill(p, size, word);
  give_back(p);
  return harm_if(sees(opaque(std::malloc(size)), size, word));
}

constexpr const char* own = "its old content is there";
constexpr mistake all[] = {
    {"read-after-free", "read", "a freed block, at once", own, freed},
    {"read-after-free-late", "read", "when 1 to 200 of its size were allocated since", "another's content is there",
     freed_and_reused},
    {"read-overrun", "read", "256 bytes behind a block", "a neighbour's content is there", beyond},
    {"read-recycled", "read", "malloc after frees, without writing first", "freed content is there", recycled},
    {"read-recycled-calloc", "read", "calloc after frees", "freed content is there", recycled_by_calloc},
    {"read-recycled-realloc", "read", "what realloc added, after frees", "freed content is there", grown},
    {"read-after-free-large", "read", "a page of freed 1 to 2 MiB", own, freed_large},
    {"read-recycled-large", "read", "malloc of 1 to 2 MiB after a free of as much", "freed content is there",
     recycled_large},
};

}  // namespace

std::span<const mistake> reads() { return all; }

}  // namespace polder::hardening
