#include "core/operation_times.hpp"

namespace polder::bench {

void operation_times::tell(run& r) const {
  if (every_ == 0) return;
  percentiles p;
  for (const log_linear& one : of_) p.add(one);
  r.tell("operations_timed", static_cast<double>(p.count()));
  r.tell("operation_overhead_ns", static_cast<double>(watch_.overhead_ns()));
  if (p.count() == 0) return;
  r.tell("operation_p50_ns", static_cast<double>(p.at(0.5)));
  r.tell("operation_p99_ns", static_cast<double>(p.at(0.99)));
  r.tell("operation_p999_ns", static_cast<double>(p.at(0.999)));
  r.tell("operation_worst_ns", static_cast<double>(p.worst()));
}

}  // namespace polder::bench
