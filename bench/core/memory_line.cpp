#include "core/memory_line.hpp"

#include <algorithm>

#include "core/measure.hpp"

namespace polder::bench {

void memory_line::look(std::int64_t since_start_ns, std::int64_t live) {
  peak_ = std::max(peak_, live);
  if (since_start_ns < next_ns_) return;
  if (count_ == points_.size()) {
    count_ /= 2;
    for (std::size_t i = 1; i < count_; ++i) points_[i] = points_[2 * i];
    distance_ns_ *= 2;
  }
  points_[count_++] = {since_start_ns, live, rss_bytes()};
  next_ns_ = since_start_ns + distance_ns_;
}

void memory_line::print(json& out) const {
  const auto line = [&](const char* name, auto member) {
    out.key(name).open('[');
    for (std::size_t i = 0; i < count_; ++i) {
      const point& p = points_[i];
      out.open('[').number(static_cast<double>(p.at_ns) / 1e9, 4).number(p.*member).close(']');
    }
    out.close(']');
  };
  line("memory_live", &point::live);
  line("memory_rss", &point::rss);
}

}  // namespace polder::bench
