#pragma once
// dekker — Dekker's question, asked as those ask it who have a heavy fence: the light side has nothing but a compiler fence.
#include <thread>

#include <polder/sync/atomic.hpp>

namespace polder::os {

// In how many of the rounds both sides missed the other's store.
//
//   order  round-begun: the words are as the round before left them
//          round-over: what the light side saw
template <class HeavyFence>
int both_missed(int rounds, HeavyFence heavy_fence) {
  alignas(128) static atomic<int> light, heavy, round, done;
  alignas(128) static int light_saw;
  for (atomic<int>* word : {&light, &heavy, &round, &done}) word->store(0, order::relaxed);
  std::thread other([rounds] {
    for (int r = 1; r <= rounds; ++r) {
      for (int looks = 0; round.load(order::acquire) < r; ++looks)  // sync: round-begun
        if (looks > 10'000) std::this_thread::yield();
      static_cast<void>(heavy.load(order::relaxed));  // so that the next one is quicker than the store
      light.store(r, order::relaxed);
      signal_fence();
      light_saw = heavy.load(order::relaxed);
      done.store(r, order::release);  // sync: round-over
    }
  });
  int both = 0;
  for (int r = 1; r <= rounds; ++r) {
    round.store(r, order::release);                                   // sync: round-begun
    for (int spin = 3 * r % 1024; spin != 0; --spin) signal_fence();  // meet the other side at different moments
    heavy.store(r, order::relaxed);
    heavy_fence();
    const int heavy_saw = light.load(order::relaxed);
    while (done.load(order::acquire) < r) std::this_thread::yield();  // sync: round-over
    both += light_saw < r && heavy_saw < r;
  }
  other.join();
  return both;
}

}  // namespace polder::os
