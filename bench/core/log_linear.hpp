#pragma once
// log_linear — a histogram of times that any thread adds to, and the buckets it is made of: as in HdrHistogram (Tene),
// each power of two is cut into equally wide ones. Here a value is known to 1/64 of itself from 1 ns to 18 minutes, in
// 18 KB.
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace polder::bench {

// 2^OctaveBits buckets to a doubling, up to 2^MostBits; the last bucket takes what is beyond.
template <unsigned OctaveBits, unsigned MostBits>
struct log_linear_buckets {
  static constexpr unsigned octave_bits = OctaveBits;
  static constexpr unsigned most_bits = MostBits;
  static constexpr std::size_t per_octave = std::size_t{1} << octave_bits;
  static constexpr std::size_t size = (most_bits - octave_bits + 1) * per_octave;

  static constexpr std::size_t index(std::uint64_t value) {
    if (value >> most_bits != 0) return size - 1;
    const auto width = static_cast<unsigned>(std::bit_width(value));
    const unsigned shift = width <= octave_bits + 1 ? 0 : width - octave_bits - 1;
    return shift * per_octave + static_cast<std::size_t>(value >> shift);
  }
  static constexpr std::uint64_t lowest(std::size_t index) {
    if (index < 2 * per_octave) return index;
    return (per_octave + index % per_octave) << (index / per_octave - 1);
  }
  static constexpr std::uint64_t highest(std::size_t index) { return lowest(index + 1) - 1; }
};

class log_linear : public log_linear_buckets<6, 40> {
 public:
  // By any thread, at any time: counts of threads that share a histogram add up.
  void add(std::uint64_t value) {
    counts_[index(value)].fetch_add(1, std::memory_order_relaxed);
    std::uint64_t worst = worst_.load(std::memory_order_relaxed);
    while (value > worst && !worst_.compare_exchange_weak(worst, value, std::memory_order_relaxed)) {
    }
  }
  std::uint64_t count(std::size_t index) const { return counts_[index].load(std::memory_order_relaxed); }
  std::uint64_t worst() const { return worst_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> counts_[size]{};
  std::atomic<std::uint64_t> worst_{0};
};

}  // namespace polder::bench
