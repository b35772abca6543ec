#pragma once
// producers — whether each putter's elements come out in its order, as each getter sees them; and an element that keeps
// others waiting while it moves.
#include <thread>
#include <vector>

#include <polder/sync/atomic.hpp>

namespace polder::ds {

// Gives the processor away in some of its moves: what a structure does around them is seen half done.
struct hesitant {
  long n;
  hesitant(long i) noexcept : n(i) {}
  hesitant(hesitant&& other) noexcept : n(other.n) { hesitate(); }
  hesitant& operator=(hesitant&& other) noexcept {
    n = other.n;
    return *this;
  }
  operator long() const noexcept { return n; }

 private:
  static void hesitate() noexcept {
    static thread_local unsigned turn = 0;
    // On a busy machine each yield is a slice of time.
    ++turn;
    if (turn % (turn < 2048 ? 7 : 509) == 0) std::this_thread::yield();
  }
};

template <class Queue>
bool in_order_of_putters(Queue& q, long putters, long getters, long each) {
  std::vector<std::thread> threads;
  atomic<long> ready{0}, left{putters * each};
  atomic<bool> in_order{true};
  const auto wait = [&] {
    ready.fetch_add(1, order::relaxed);
    while (ready.load(order::relaxed) != putters + getters) std::this_thread::yield();
  };
  for (long p = 0; p != putters; ++p) {
    threads.emplace_back([&, p] {
      wait();
      for (long i = 0; i != each;) {
        if (q.put(typename Queue::value_type(p * each + i))) ++i;
        else std::this_thread::yield();
      }
    });
  }
  for (long g = 0; g != getters; ++g) {
    threads.emplace_back([&] {
      std::vector<long> last(std::size_t(putters), -1);
      wait();
      while (left.load(order::relaxed) != 0) {
        const auto e = q.get();
        if (!e) {
          std::this_thread::yield();
          continue;
        }
        const long n = *e;
        left.fetch_sub(1, order::relaxed);
        long& before = last[std::size_t(n / each)];
        if (n % each <= before) in_order.store(false, order::relaxed);
        before = n % each;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  return in_order.load(order::relaxed);
}

}  // namespace polder::ds
