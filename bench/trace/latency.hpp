#pragma once
// latency — durations in log-linear buckets: exact below 32 ns, then 16 to each doubling, so a value is known to 6 %.
#include <atomic>
#include <bit>
#include <cstdint>

#include "core/json.hpp"

namespace polder::trace {

class latency {
 public:
  void add(std::uint64_t ns) {
    ++counts_[bucket(ns)];
    if (ns > worst_) worst_ = ns;
  }
  void join(const latency& other) {
    for (unsigned n = 0; n < buckets; ++n) counts_[n] += other.counts_[n];
    if (other.worst_ > worst_) worst_ = other.worst_;
  }
  std::uint64_t count() const {
    std::uint64_t all = 0;
    for (const auto c : counts_) all += c;
    return all;
  }
  // The upper end of the bucket that holds it.
  std::uint64_t percentile(double percent) const {
    const auto all = static_cast<double>(count());
    double seen = 0;
    for (unsigned n = 0; n < buckets; ++n) {
      seen += static_cast<double>(counts_[n]);
      if (counts_[n] != 0 && seen >= all * percent / 100) return most(n) < worst_ ? most(n) : worst_;
    }
    return worst_;
  }

  void write(bench::json& out) const {
    out.open('{').key("count").number(count());
    out.key("p50_ns")
        .number(percentile(50))
        .key("p90_ns")
        .number(percentile(90))
        .key("p99_ns")
        .number(percentile(99));
    out.key("p99_9_ns")
        .number(percentile(99.9))
        .key("p99_99_ns")
        .number(percentile(99.99))
        .key("worst_ns")
        .number(worst_);
    out.key("buckets").open('[');
    for (unsigned n = 0; n < buckets; ++n) {
      if (counts_[n] != 0)
        out.open('[').number(least(n)).number(most(n)).number(std::uint64_t{counts_[n]}).close(']');
    }
    out.close(']').close('}');
  }

  static constexpr unsigned bucket(std::uint64_t ns) {
    if (ns < 32) return static_cast<unsigned>(ns);
    const auto octave = static_cast<unsigned>(std::bit_width(ns)) - 6;  // 0 for 32–63
    const unsigned n = 32 + octave * 16 + static_cast<unsigned>((ns >> (octave + 1)) & 15);
    return n < buckets ? n : buckets - 1;
  }
  static constexpr std::uint64_t least(unsigned n) {
    if (n < 32) return n;
    const unsigned octave = (n - 32) / 16;
    return (std::uint64_t{16} + (n - 32) % 16) << (octave + 1);
  }
  static constexpr std::uint64_t most(unsigned n) { return least(n + 1) - 1; }

 private:
  static constexpr unsigned buckets = 32 + 16 * 32;  // to 2^37 ns, two minutes

  std::uint32_t counts_[buckets]{};
  std::uint64_t worst_ = 0;
};

}  // namespace polder::trace
