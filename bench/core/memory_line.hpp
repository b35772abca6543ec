#pragma once
// memory_line — live bytes and RSS over time, a bounded number of points: when it is full, every second one is dropped and
// the distance doubled, so that a minute and a night both fit.
#include <cstdint>

#include "core/json.hpp"
#include "core/mapped_array.hpp"

namespace polder::bench {

class memory_line {
 public:
  // Look again after this long; of the looks only some are kept, but each counts for the peak.
  static constexpr std::int64_t look_ns = 1'000'000;

  void look(std::int64_t since_start_ns, std::int64_t live);
  // The greatest sum of live bytes that a look has seen.
  std::int64_t peak() const { return peak_; }
  // The keys `memory_live` and `memory_rss`: [[seconds, bytes], …].
  void print(json& out) const;

 private:
  struct point {
    std::int64_t at_ns = 0;
    std::int64_t live = 0;
    std::int64_t rss = 0;
  };

  mapped_array<point> points_{1024};
  std::size_t count_ = 0;
  std::int64_t distance_ns_ = 10'000'000;
  std::int64_t next_ns_ = 0;
  std::int64_t peak_ = 0;
};

}  // namespace polder::bench
