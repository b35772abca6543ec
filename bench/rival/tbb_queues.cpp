// TBB's queues.
#include <tbb/concurrent_queue.h>

#include "rival/collections.hpp"

namespace polder::bench::rivals {

namespace {

class unbounded {
 public:
  static constexpr bool sized = false;
  explicit unbounded(const collection_job&) {}
  bool put(std::uint64_t e) { return of_.push(e), true; }
  bool get(std::uint64_t& e) { return of_.try_pop(e); }

 private:
  tbb::concurrent_queue<std::uint64_t> of_;
};
class bounded {
 public:
  static constexpr bool sized = true;
  explicit bounded(const collection_job& job) { of_.set_capacity(static_cast<std::ptrdiff_t>(capacity(job))); }
  bool put(std::uint64_t e) { return of_.try_push(e); }
  bool get(std::uint64_t& e) { return of_.try_pop(e); }

 private:
  tbb::concurrent_bounded_queue<std::uint64_t> of_;
};

}  // namespace

made_collection tbb_queue(const collection_job& job) { return made<unbounded>(job); }
made_collection tbb_bounded_queue(const collection_job& job) { return made<bounded>(job); }

}  // namespace polder::bench::rivals
