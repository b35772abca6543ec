#pragma once
// play — threads put and get at random on one structure, recorded; then all that is left is taken out, recorded too.
//
// By turns a thread puts more than it gets and gets more than it puts; half of them begin with the one and half with the
// other, so the structure is often nearly empty. Where only so many threads may put or get at once, each has a role for
// good. They yield now and then, for where there are fewer processors than threads.
#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <polder/sync/atomic.hpp>

#include "checker/history.hpp"
#include "probe/random.hpp"

namespace polder::checker {

struct plan {
  unsigned threads = 2;
  std::size_t operations = 1000;  // of all threads
  std::uint64_t seed = 1;
  std::size_t prefill = 0;
  unsigned meet_every = 0;      // operations of each thread, then all wait for all; 0: never
  unsigned most_putters = 0;    // 0: any number
  unsigned most_getters = 0;    // the same
  bool waits_on_empty = false;  // it is asked only for what is there
};

struct roles {
  unsigned putters, getters;  // the last threads get
  explicit roles(const plan& p) {
    const auto limited = [](unsigned n, unsigned most) { return most == 0 ? n : std::min(n, most); };
    if (p.most_putters == 0 && p.most_getters == 0) {
      putters = getters = std::max(p.threads, 1u), threads = putters;
    } else {
      putters = limited(std::max(p.threads / 2, 1u), p.most_putters);
      getters = limited(std::max(p.threads - putters, 1u), p.most_getters);
      if (p.most_putters == 0) putters = std::max(p.threads - std::min(getters, p.threads - 1), 1u);
      threads = putters + getters;
    }
  }
  unsigned threads;
  bool puts(unsigned t) const { return t < putters; }
  bool gets(unsigned t) const { return t >= threads - getters; }
};

// The last array is of who put before and took out at the end.
template <class C, class Clock>
history play(C& of, Clock& clock, const plan& p) {
  const roles r(p);
  const std::size_t each = std::max<std::size_t>(p.operations / r.threads, 1);
  history done(r.threads + 1);
  std::barrier meeting(std::ptrdiff_t(r.threads));
  atomic<long> inside{0};  // for one that waits on empty

  recorded<C, Clock> alone(of, clock, p.prefill + 1);
  std::size_t prefilled = 0;
  while (prefilled != p.prefill && alone.put(value_of(r.threads, prefilled))) ++prefilled;
  inside.fetch_add(long(prefilled), order::relaxed);

  std::vector<std::thread> workers;
  for (unsigned t = 0; t != r.threads; ++t) {
    workers.emplace_back([&, t] {
      recorded<C, Clock> own(of, clock, each);
      probe::random random(p.seed * 1000 + t);
      std::uint64_t n = 0;
      meeting.arrive_and_wait();
      for (std::size_t i = 0; i != each; ++i) {
        if (p.meet_every != 0 && i % p.meet_every == 0) meeting.arrive_and_wait();
        const std::uint64_t draw = random.next();
        if (draw % 256 == 0) std::this_thread::yield();
        const bool puts = (draw >> 8) % 100 < ((i / 500 + t) % 2 == 0 ? 60 : 40);
        if (r.puts(t) && (puts || !r.gets(t))) {
          if (own.put(value_of(t, n))) {
            ++n;
            if (p.waits_on_empty) inside.fetch_add(1, order::relaxed);
          } else {
            std::this_thread::yield();
          }
        } else if (p.waits_on_empty && inside.fetch_sub(1, order::relaxed) <= 0) {
          inside.fetch_add(1, order::relaxed);
          std::this_thread::yield();
        } else {
          own.get();
        }
      }
      done[t] = own.take();
    });
  }
  for (std::thread& w : workers) w.join();

  std::size_t left = prefilled;
  for (const std::vector<event>& part : done) {
    for (const event& e : part) left += e.what == call::put ? 1u : e.what == call::get ? ~std::size_t{0} : 0u;
  }
  // One that doubles gives more than was put.
  for (unsigned misses = 0; std::ptrdiff_t(left) > 0 && misses != 3;) {
    if (alone.get()) --left, misses = 0;
    else ++misses;  // a wrong empty, or what is left is lost
  }
  if (!p.waits_on_empty) alone.get();
  done.back() = alone.take();
  return done;
}

}  // namespace polder::checker
