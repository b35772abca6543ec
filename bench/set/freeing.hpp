#pragma once
// freeing — what a reclaimer's frees cost, seen from where it makes them: the time of each call, the threads' time in all of
// them, and how many objects are freed between two operations.
//
// Two readings of the clock surround each call, which is time too: a run that asks for this is compared with nothing else
// in operations a second.
#include <atomic>
#include <cstdint>
#include <optional>

#include <polder/smr/free_watch.hpp>

#include "core/log_linear.hpp"
#include "core/mapped_array.hpp"
#include "core/run.hpp"
#include "core/stopwatch.hpp"

namespace polder::bench {

class freeing final : public smr::free_watch {
 public:
  explicit freeing(unsigned threads) : of_(threads + 1) {}

  // Of the worker with this number, by its thread. What other threads free, which do no operations, is timed, and is in
  // nobody's time and no burst.
  void works(unsigned number) { mine_ = &of_[number]; }
  void operation_ended() {
    if (mine_->burst == 0) return;
    mine_->bursts.add(mine_->burst);
    mine_->burst = 0;
  }

  // What is freed between these two counts. While nobody works.
  void begin() { on_.store(true, std::memory_order_relaxed); }
  // `worked_ns`: of all threads together.
  void tell(run& r, std::int64_t worked_ns);

  std::uint64_t before() noexcept override { return watch_.begin(); }
  void after(std::uint64_t before, std::size_t objects) noexcept override;

 private:
  // A thread's own.
  struct alignas(128) record {
    log_linear times, bursts;
    std::uint64_t ns = 0;
    std::uint64_t burst = 0;  // objects since the last operation
  };

  static constinit thread_local record* mine_;

  const stopwatch watch_;
  mapped_array<record> of_;  // the last one is for whoever is no worker
  std::atomic<bool> on_{false};
};

}  // namespace polder::bench
