#pragma once
// raised — the highest number of an element that was taken from a buffer: for the exact empty answer.
//
// Elements are numbered in the order of their puts, and who takes one raises this to its number before. So if a scan reads
// it, then finds nothing, and another finds nothing and then reads the same, nothing was put and taken in between: the
// buffer was empty all the while. The sums over several buffers may be compared instead: each only grows.
#include <cstdint>

#include <polder/sync/atomic.hpp>

namespace polder::ds {

class raised {
 public:
  // Before a take that releases.
  void to(std::uint64_t number) noexcept {
    std::uint64_t now = number_.load(order::relaxed);
    while (now < number && !number_.cas(now, number, order::release, order::relaxed)) {  // sync: raised-first
    }
  }

  // Before a scan.
  std::uint64_t before() const noexcept { return number_.load(order::acquire); }  // sync: raised-first
  // Behind one, whose loads acquire what takers released.
  std::uint64_t behind() const noexcept { return number_.load(order::relaxed); }

 private:
  // number_ — written by takers, read by getters that found nothing. Only grows.
  //   order  raised-first: who reads a number sees that element linked, so the scan that follows is not older
  atomic<std::uint64_t> number_{0};
};

}  // namespace polder::ds
