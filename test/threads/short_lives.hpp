#pragma once
// short_lives — many short threads, two creators, four at a time: each frees all it allocated, or ends while its blocks
// live and its creator frees them.
#include <algorithm>
#include <cstdlib>

#include "crew.hpp"

namespace polder::threads_test {

inline constexpr int blocks = 24;

struct life {
  bool hand_over;
  std::uint32_t seed;
  void* block[blocks];
};

inline void* live(void* self) {
  auto& mine = *static_cast<life*>(self);
  probe::random r(mine.seed);
  for (auto& p : mine.block) p = made(probe::any_size(r), mine.seed);
  if (!mine.hand_over) {
    for (auto& p : mine.block) unmade(p), p = nullptr;
  } else {
    // Half of what it keeps it frees itself, so that it ends with partly used spans.
    for (int i = 0; i < blocks; i += 2) unmade(mine.block[i]), mine.block[i] = nullptr;
  }
  return nullptr;
}

// One of two creators: starts four threads at a time, frees what they leave.
struct creator {
  bool hand_over;
  std::uint32_t first;
  int rounds;

  static void* run(void* self) {
    auto& mine = *static_cast<creator*>(self);
    life lives[4] = {};
    pthread_t threads[4];
    for (int round = 0; round < mine.rounds; round++) {
      for (std::uint32_t i = 0; i < 4; i++) {
        lives[i].hand_over = mine.hand_over;
        lives[i].seed = mine.first + std::uint32_t(round) * 4 + i;
        threads[i] = start(live, &lives[i]);
      }
      for (int i = 0; i < 4; i++) {
        ::pthread_join(threads[i], nullptr);
        for (auto& p : lives[i].block) {
          if (p) unmade(p), p = nullptr;
        }
      }
    }
    return nullptr;
  }
};

inline void generation(bool hand_over, int threads, std::uint32_t seed) {
  creator creators[2];
  pthread_t running[2];
  for (std::uint32_t i = 0; i < 2; i++) {
    creators[i] = {hand_over, seed + i * 1000003, threads / 8};
    running[i] = start(creator::run, &creators[i]);
  }
  for (auto thread : running) ::pthread_join(thread, nullptr);
}

// Resident and mapped KiB that a stretch of threads added.
struct growth {
  long resident, mapped;
};

inline growth grow_by_stretch(bool hand_over, int threads, std::uint32_t seed) {
  const long resident = probe::resident_kib(), mapped = probe::mapped_kib();
  for (std::uint32_t fifth = 0; fifth < 5; fifth++) generation(hand_over, threads / 5, seed + fifth * 77777);
  return {probe::resident_kib() - resident, probe::mapped_kib() - mapped};
}

// The least that a stretch of so many threads adds, of three after the first. What a thread leaves behind shows in each
// stretch. What the program needed when most blocks lived at once does not: how many that were is chance, and a later
// stretch may need a little more, but seldom each of them. A stretch that adds no more than enough ends the search.
inline growth grow_by_short_lives(bool hand_over, int threads, long enough) {
  grow_by_stretch(hand_over, threads, 0);
  growth least = grow_by_stretch(hand_over, threads, 1 << 20);
  for (std::uint32_t more = 2; more < 4 && least.resident > enough; more++) {
    const growth again = grow_by_stretch(hand_over, threads, more << 20);
    least = {std::min(least.resident, again.resident), least.mapped + again.mapped};
  }
  return least;
}

}  // namespace polder::threads_test
