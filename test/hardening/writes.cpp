// Writes beyond a block, before it, and after its end. Whether the heap notices is asked when all blocks have come back.
#include "life.hpp"

namespace polder::hardening {
namespace {

// Bytes that are not what the attacked heap would have there.
void scribble(char* at, std::size_t n, random& r) {
  for (std::size_t i = 0; i < n; i++) opaque(at)[i] = char(1 + r.below(255));
}

// Blocks of one size, each of which knows itself.
struct row {
  static constexpr std::size_t many = 300;
  std::size_t size;
  char* at[many];

  explicit row(random& r, std::size_t of) : size(of) {
    for (std::size_t i = 0; i < many; i++) at[i] = static_cast<char*>(made(size, std::uint32_t(r.next())));
  }
  bool intact() const {
    for (auto* p : at)
      if (p != nullptr && !probe::intact(p)) return false;
    return true;
  }
  void end() {
    for (auto*& p : at)
      if (p != nullptr) give_back(p);
  }
};

template <std::size_t bytes>
effect overrun(random& r) {
  row all(r, small(r));
  scribble(all.at[r.below(row::many)] + all.size, bytes, r);
  const auto came = harm_if(!all.intact());
  all.end();
  return worse(came, go_on(all.size));
}

// Every second block is free.
template <std::size_t bytes>
effect overrun_into_free(random& r) {
  row all(r, small(r));
  for (std::size_t i = 1; i < row::many; i += 2) {
    give_back(all.at[i]);
    all.at[i] = nullptr;
  }
  scribble(all.at[2 * r.below(row::many / 2)] + all.size, bytes, r);
  auto came = go_on(all.size);
  came = worse(harm_if(!all.intact()), came);
  if (came == effect::none) all.end();
  return worse(came, go_on(all.size));
}

effect underrun(random& r) {
  row all(r, small(r));
  const auto bytes = 1 + r.below(16);
  scribble(all.at[r.below(row::many)] - bytes, bytes, r);
  const auto came = harm_if(!all.intact());
  all.end();
  return worse(came, go_on(all.size));
}

effect overrun_large(random& r) {
  const auto size = large(r);
  std::array<char*, 4> all;
  for (auto& p : all) p = static_cast<char*>(made(size, 7));
  const auto k = r.below(all.size());
  scribble(all[k] + size, 64, r);
  bool harmed = false;
  for (auto* p : all) harmed |= !probe::intact(p);
  for (auto* p : all) give_back(p);
  return worse(harm_if(harmed), go_on_large(size));
}

// Eight bytes somewhere in a freed block, of which others of its size were freed before and after.
effect after_free(random& r) {
  const auto size = small(r);
  std::array<char*, 16> others;
  for (auto& p : others) p = block(size);
  char* p = block(size);
  const auto before = r.below(others.size());
  for (std::size_t i = 0; i < before; i++) give_back(others[i]);
  give_back(p);
  for (std::size_t i = before; i < before + r.below(others.size() - before + 1); i++) give_back(others[i]);
  scribble(p + 8 * r.below(size / 8), 8, r);
  return go_on(size);
}

// When others of its size have been allocated since; one of them may have its place.
effect after_free_late(random& r) {
  constexpr std::size_t most = 200;
  const auto size = small(r);
  char* p = block(size);
  give_back(p);
  std::array<void*, most> since;
  const auto n = 1 + r.below(most);
  for (std::size_t i = 0; i < n; i++) since[i] = made(size, std::uint32_t(i));
  scribble(p, 1 + r.below(size), r);
  bool harmed = false;
  for (std::size_t i = 0; i < n; i++) harmed |= !probe::intact(since[i]);
  for (std::size_t i = 0; i < n; i++) give_back(since[i]);
  return worse(harm_if(harmed), go_on(size));
}

// Where heaps keep the link to the next free block: it is made to lead to memory that an attacker has prepared.
effect link(random& r) {
  constexpr std::size_t words = 512;
  alignas(4096) static std::uint64_t target[words];
  for (auto& w : target) w = 0x51;
  constexpr std::size_t size = 64;
  char* other = block(size);
  char* p = block(size);
  give_back(other);
  give_back(p);
  const void* aim = opaque(&target[2 * (8 + r.below(words / 2 - 16))]);
  const std::size_t aimed = r.below(2) != 0 ? size : sizeof aim;  // all words, or the first
  for (std::size_t i = 0; i < aimed; i += sizeof aim) std::memcpy(opaque(p) + i, &aim, sizeof aim);
  return go_on(size, {reinterpret_cast<char*>(target), reinterpret_cast<char*>(target + words)});
}

effect large_after_free(random& r) {
  const auto size = large(r);
  char* p = block(size);
  give_back(p);
  void* next = made(size, 3);
  scribble(p + 4096 * r.below(size / 4096), 4096, r);
  const bool harmed = !probe::intact(next);
  give_back(next);
  return worse(harm_if(harmed), go_on_large(size));
}

constexpr const char* changed = "another block is changed, or blocks overlap";
constexpr const char* lost = "another block is changed, or a block is handed out twice";
constexpr mistake all[] = {
    {"overrun-1", "write", "1 byte behind a block, live blocks around", changed, overrun<1>},
    {"overrun-8", "write", "8 bytes", changed, overrun<8>},
    {"overrun-16", "write", "16 bytes", changed, overrun<16>},
    {"overrun-64", "write", "64 bytes", changed, overrun<64>},
    {"overrun-free-8", "write", "8 bytes behind a block, every second block free", lost, overrun_into_free<8>},
    {"overrun-free-64", "write", "64 bytes, every second block free", lost, overrun_into_free<64>},
    {"underrun", "write", "1 to 16 bytes before a block", changed, underrun},
    {"overrun-large", "write", "64 bytes behind a block of whole pages, 1 to 2 MiB", changed, overrun_large},
    {"write-after-free", "write", "8 bytes of a freed block, then allocating goes on", lost, after_free},
    {"write-after-free-late", "write", "when 1 to 200 of its size were allocated since", changed, after_free_late},
    {"write-link", "write", "the link of a freed block led to prepared memory", "malloc hands that memory out",
     link},
    {"write-after-free-large", "write", "a page of freed 1 to 2 MiB, when as much was allocated since", changed,
     large_after_free},
};

}  // namespace

std::span<const mistake> writes() { return all; }

}  // namespace polder::hardening
