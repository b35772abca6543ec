#pragma once
// delay_ring — blocks that wait for a while before anybody has them again: first in, first out, as far as one thread can see.
//
//   progress   lock-free
//   in malloc  yes; in a signal handler: yes
//   invariant  a block that was put is in one slot, or was handed to `release` once: by whoever swapped it out of there
#include <array>
#include <cstddef>

#include <polder/base/bits.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::mem {

template <std::size_t Room, std::size_t MostBytes>
class delay_ring_of {
 public:
  static constexpr std::size_t room = Room;  // blocks
  static constexpr std::size_t most_bytes = MostBytes;
  static constexpr std::size_t longest =
      most_bytes / 4;  // a block beyond would drive too many others out, and does not wait

  // release(block) is called for each whose time has come, and says with how many bytes it was put.
  template <class Release>
  void put(void* block, std::size_t bytes, Release release) noexcept {
    if (bytes > longest) return static_cast<void>(release(block));
    bytes_.fetch_add(bytes, order::relaxed);
    swap(put_.fetch_add(1, order::relaxed), block, release);
    while (bytes_.load(order::relaxed) > most_bytes) {
      std::size_t from = taken_.load(order::relaxed);
      const std::size_t to = put_.load(order::relaxed);
      if (from >= to) return;  // what is counted is still in other threads' hands
      const std::size_t oldest = to - from > room ? to - room : from;
      if (taken_.cas(from, oldest + 1, order::relaxed, order::relaxed)) swap(oldest, nullptr, release);
    }
  }

 private:
  template <class Release>
  void swap(std::size_t n, void* block, Release release) noexcept {
    void* const before = slots_[n % room].exchange(block, order::acq_rel);  // sync: delayed-block
    if (before != nullptr) bytes_.fetch_sub(release(before), order::relaxed);
  }

  // slots_ — the blocks; the n-th that was put lies in slot n modulo `room`.
  //   written by  who puts, and who takes the oldest, both by exchange
  //   order       delayed-block: what was done to the block before comes before what `release` does
  //   ABA         none: what an exchange returns is the swapper's
  std::array<atomic<void*>, room> slots_;
  atomic<std::size_t> put_;    // so far; relaxed, as the next two: they say where to look, and the slots decide
  atomic<std::size_t> taken_;  // up to here they were looked for because of the bytes
  atomic<std::size_t> bytes_;  // that wait
};

using delay_ring = delay_ring_of<4096, 16 * MiB>;

}  // namespace polder::mem
