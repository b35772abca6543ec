#pragma once
// next_number — numbers that are handed out one after the other, and count only when what bears them has a place: in tables
// that are installed as they are needed.
//
//   paper      none
//   progress   lock-free, but for what making a table takes
//   in malloc  yes, where making one is
//   invariant  every number in [1, count] has its table
#include <cstdint>

#include <polder/sync/atomic.hpp>
#include <polder/sync/install_once.hpp>

namespace polder {

// A number below `end` that nobody had before; 0: all are in use, or make() returned null. Table by table, `make` and
// `discard` are as install_once has them. Who walks all numbers reads `count` with order::acquire, of the same edge:
//   order       number-counted: who counts a number has its table; who reads the count finds it
//   ABA         no: the count only grows
template <class T, class Make, class Discard>
[[nodiscard]] std::uint32_t next_number(atomic<std::uint32_t>& count, std::uint64_t end, atomic<T*>* tables,
                                        std::uint32_t per_table, Make&& make, Discard&& discard) noexcept {
  std::uint32_t last = count.load(order::relaxed);
  do {
    if (last + std::uint64_t{1} >= end) return 0;
    if (install_once(tables[(last + 1) / per_table], make, discard) == nullptr) return 0;
  } while (!count.cas(last, last + 1, order::release, order::relaxed));  // sync: number-counted
  return last + 1;
}

}  // namespace polder
