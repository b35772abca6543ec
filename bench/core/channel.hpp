#pragma once
// channel — a bounded queue from one thread to one other, by which blocks change hands. Wait-free; Lamport, "Proving
// the correctness of multiprocess programs", 1977, with each side keeping a stale copy of the other's index.
#include <atomic>
#include <cstdint>

#include "core/mapped_array.hpp"

namespace polder::bench {

template <class T>
class channel {
 public:
  // The capacity is a power of two.
  explicit channel(std::size_t capacity) : slots_(capacity), mask_(capacity - 1) {}

  // Writer only.
  [[nodiscard]] bool try_put(const T& value) {
    const std::uint64_t at = put_.load(std::memory_order_relaxed);
    if (at - taken_seen_ == slots_.size()) {
      taken_seen_ = taken_.load(std::memory_order_acquire);  // sync: slot-free
      if (at - taken_seen_ == slots_.size()) return false;
    }
    slots_[at & mask_] = value;
    put_.store(at + 1, std::memory_order_release);  // sync: slot-filled
    return true;
  }

  // Reader only.
  [[nodiscard]] bool try_take(T& value) {
    const std::uint64_t at = taken_.load(std::memory_order_relaxed);
    if (at == put_seen_) {
      put_seen_ = put_.load(std::memory_order_acquire);  // sync: slot-filled
      if (at == put_seen_) return false;
    }
    value = slots_[at & mask_];
    taken_.store(at + 1, std::memory_order_release);  // sync: slot-free
    return true;
  }

 private:
  mapped_array<T> slots_;
  const std::uint64_t mask_;
  alignas(128) std::atomic<std::uint64_t> put_{0};    // written by the writer, read by both
  std::uint64_t taken_seen_ = 0;                      // writer only
  alignas(128) std::atomic<std::uint64_t> taken_{0};  // written by the reader, read by both
  std::uint64_t put_seen_ = 0;                        // reader only
};

// A matrix of channels: one from each of n threads to each.
template <class T>
class post_office {
 public:
  post_office(unsigned threads, std::size_t capacity)
      : threads_(threads), channels_(std::size_t{threads} * threads, capacity) {}
  channel<T>& between(unsigned from, unsigned to) { return channels_[std::size_t{from} * threads_ + to]; }

 private:
  unsigned threads_;
  mapped_array<channel<T>> channels_;
};

}  // namespace polder::bench
