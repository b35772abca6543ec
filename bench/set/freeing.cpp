#include "set/freeing.hpp"

#include "core/percentiles.hpp"

namespace polder::bench {

constinit thread_local freeing::record* freeing::mine_ = nullptr;

void freeing::after(std::uint64_t before, std::size_t objects) noexcept {
  const std::uint64_t ns = watch_.end(before);
  if (!on_.load(std::memory_order_relaxed)) return;
  record& r = mine_ != nullptr ? *mine_ : of_[of_.size() - 1];
  r.times.add(ns);
  r.ns += ns;
  r.burst += objects;
}

void freeing::tell(run& r, std::int64_t worked_ns) {
  on_.store(false, std::memory_order_relaxed);
  percentiles times;
  percentiles bursts;
  std::uint64_t ns = 0;
  for (const record& one : of_) {
    times.add(one.times);
    if (&one == of_.end() - 1) continue;
    bursts.add(one.bursts);
    ns += one.ns;
  }
  r.tell("free_calls", static_cast<double>(times.count()));
  r.tell("free_share", 100 * static_cast<double>(ns) / static_cast<double>(worked_ns));
  r.tell("free_overhead_ns", static_cast<double>(watch_.overhead_ns()));
  if (times.count() != 0) {
    r.tell("free_p50_ns", static_cast<double>(times.at(0.5)));
    r.tell("free_p99_ns", static_cast<double>(times.at(0.99)));
    r.tell("free_p999_ns", static_cast<double>(times.at(0.999)));
    r.tell("free_worst_ns", static_cast<double>(times.worst()));
  }
  if (bursts.count() != 0) {
    r.tell("free_burst_p50", static_cast<double>(bursts.at(0.5)));
    r.tell("free_burst_p99", static_cast<double>(bursts.at(0.99)));
    r.tell("free_burst_longest", static_cast<double>(bursts.worst()));
  }
}

}  // namespace polder::bench
