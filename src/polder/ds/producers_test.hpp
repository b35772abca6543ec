#pragma once
// producers — whether each putter's elements come out in its order, as each getter sees them.
#include <optional>
#include <thread>
#include <vector>

#include <polder/sync/atomic.hpp>

namespace polder::ds {

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
        if (q.put(p * each + i)) ++i;
        else std::this_thread::yield();
      }
    });
  }
  for (long g = 0; g != getters; ++g) {
    threads.emplace_back([&] {
      std::vector<long> last(std::size_t(putters), -1);
      wait();
      while (left.load(order::relaxed) != 0) {
        const std::optional<long> n = q.get();
        if (!n) {
          std::this_thread::yield();
          continue;
        }
        left.fetch_sub(1, order::relaxed);
        long& before = last[std::size_t(*n / each)];
        if (*n % each <= before) in_order.store(false, order::relaxed);
        before = *n % each;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  return in_order.load(order::relaxed);
}

}  // namespace polder::ds
