#pragma once
// latency — durations of one thread, in log-linear buckets: exact below 32 ns, then 16 to each doubling, so a value is known to 6 %.
#include <cstddef>
#include <cstdint>

#include "core/json.hpp"
#include "core/log_linear.hpp"

namespace polder::trace {

class latency {
 public:
  using buckets = bench::log_linear_buckets<4, 37>;  // to two minutes

  void add(std::uint64_t ns) {
    ++counts_[buckets::index(ns)];
    if (ns > worst_) worst_ = ns;
  }
  void join(const latency& other) {
    for (std::size_t n = 0; n < buckets::size; ++n) counts_[n] += other.counts_[n];
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
    for (std::size_t n = 0; n < buckets::size; ++n) {
      seen += static_cast<double>(counts_[n]);
      if (counts_[n] != 0 && seen >= all * percent / 100)
        return buckets::highest(n) < worst_ ? buckets::highest(n) : worst_;
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
    for (std::size_t n = 0; n < buckets::size; ++n) {
      if (counts_[n] != 0)
        out.open('[').number(buckets::lowest(n)).number(buckets::highest(n)).number(counts_[n]).close(']');
    }
    out.close(']').close('}');
  }

 private:
  std::uint64_t counts_[buckets::size]{};
  std::uint64_t worst_ = 0;
};

}  // namespace polder::trace
