#pragma once
// raised — the number of the last element that was put into a buffer, as far as anybody has to know: for the exact
// empty answer.
//
// Who puts sets it to the element's number behind the link; who takes an element raises it to that element's number
// before. So if a scan reads it, then finds nothing, and another finds nothing and then reads the same, nothing was
// put and taken in between: the buffer was empty all the while. The sums over several buffers may be compared
// instead: each only grows.
#include <cstdint>

#include <polder/sync/atomic.hpp>

namespace polder::ds {

class raised {
 public:
  // The owner. Nobody has seen a higher one.
  void set(std::uint64_t number) noexcept { number_.store(number, order::release); }  // sync: raised-first

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
  // number_ — written by the owner and by takers, read by getters that found nothing. Only grows.
  //   order  raised-first: who reads a number sees that element linked, so the scan that follows is not older
  atomic<std::uint64_t> number_{0};
};

}  // namespace polder::ds
