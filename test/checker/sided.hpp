#pragma once
// sided — three threads do a few operations at both ends of a deque, recorded; then it is emptied from the left.
#include <barrier>
#include <cstdint>
#include <thread>
#include <vector>

#include "checker/history.hpp"
#include "probe/random.hpp"

namespace polder::checker {

template <class C>
concept has_sides = requires(recorded<C, counter>& r) { r.put(side::left, 1), r.get(side::right); };

template <class C, class Clock>
history play_sides(C& of, Clock& clock, std::uint64_t seed) {
  constexpr unsigned threads = 3, each = 5;
  history done(threads + 1);
  std::barrier meeting(threads);
  std::vector<std::thread> workers;
  for (unsigned t = 0; t != threads; ++t) {
    workers.emplace_back([&, t] {
      recorded<C, Clock> own(of, clock, each);
      probe::random random(seed * threads + t);
      meeting.arrive_and_wait();
      for (unsigned i = 0; i != each; ++i) {
        const side at = random.below(2) == 0 ? side::left : side::right;
        if (random.below(5) < 3) own.put(at, value_of(t, i));
        else own.get(at);
      }
      done[t] = own.take();
    });
  }
  for (std::thread& w : workers) w.join();
  recorded<C, Clock> alone(of, clock, threads * each);
  while (alone.get(side::left)) {
  }
  done.back() = alone.take();
  return done;
}

}  // namespace polder::checker
