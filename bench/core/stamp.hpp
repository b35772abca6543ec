#pragma once
// stamp — what a workload writes into a block and expects to find there when it frees it.
//
// The key differs for every block ever allocated in a run, so two live blocks that overlap, a block given out twice, a
// free that wrote into somebody else's block, or a write that was lost all show as a wrong word. Head and tail only, in
// the way real programs touch what they allocate; `fill` also writes one word each `step` bytes between. The tail is 16
// bytes long where there is room: blocks are aligned to 16, so the head of one that overlaps the end by as little as that
// lies in it.
#include <cstdint>
#include <cstring>

namespace polder::bench {

constexpr std::uint64_t block_key(std::uint64_t salt, std::uint64_t serial) {
  return (salt ^ serial) * 0x9e3779b97f4a7c15u | 1;
}

inline void stamp(void* block, std::size_t size, std::uint64_t key) {
  auto* bytes = static_cast<unsigned char*>(block);
  if (size >= 16) {
    const std::uint64_t tail = ~key;
    std::memcpy(bytes, &key, 8);
    std::memcpy(bytes + size - 8, &tail, 8);
    if (size >= 32) std::memcpy(bytes + size - 16, &tail, 8);
  } else if (size >= 8) {
    std::memcpy(bytes, &key, 8);
    if (size > 8) bytes[size - 1] = static_cast<unsigned char>(~key);
  } else {
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(key >> (8 * i + 8));
  }
}

[[nodiscard]] inline bool stamped(const void* block, std::size_t size, std::uint64_t key) {
  const auto* bytes = static_cast<const unsigned char*>(block);
  if (size >= 16) {
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
    std::memcpy(&head, bytes, 8);
    std::memcpy(&tail, bytes + size - 8, 8);
    std::uint64_t wrong = (head ^ key) | (tail ^ ~key);
    if (size >= 32) {
      std::memcpy(&tail, bytes + size - 16, 8);
      wrong |= tail ^ ~key;
    }
    return wrong == 0;
  }
  if (size >= 8) {
    std::uint64_t head = 0;
    std::memcpy(&head, bytes, 8);
    return head == key && (size == 8 || bytes[size - 1] == static_cast<unsigned char>(~key));
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (bytes[i] != static_cast<unsigned char>(key >> (8 * i + 8))) return false;
  }
  return true;
}

// Between the stamps: one word in each `step` bytes (a multiple of 8).
inline void fill(void* block, std::size_t size, std::uint64_t key, std::size_t step) {
  auto* bytes = static_cast<unsigned char*>(block);
  for (std::size_t at = step; at + 24 <= size; at += step) {
    const std::uint64_t word = key + at;
    std::memcpy(bytes + at, &word, 8);
  }
}

[[nodiscard]] inline bool filled(const void* block, std::size_t size, std::uint64_t key, std::size_t step) {
  const auto* bytes = static_cast<const unsigned char*>(block);
  std::uint64_t wrong = 0;
  for (std::size_t at = step; at + 24 <= size; at += step) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, 8);
    wrong |= word ^ (key + at);
  }
  return wrong == 0;
}

[[nodiscard]] inline bool all_zero(const void* block, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(block);
  std::uint64_t any = 0;
  std::size_t at = 0;
  for (; at + 8 <= size; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, 8);
    any |= word;
  }
  for (; at < size; ++at) any |= bytes[at];
  return any == 0;
}

}  // namespace polder::bench
