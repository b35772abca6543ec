// moodycamel's ConcurrentQueue: a sub-queue for each producer, so elements of different producers are in no order.
#include <concurrentqueue/concurrentqueue.h>

#include "rival/collections.hpp"

namespace polder::bench::rivals {

namespace {

class moodycamel_queue_of {
 public:
  static constexpr bool sized = false;
  explicit moodycamel_queue_of(const collection_job&) {}
  bool put(std::uint64_t e) { return of_.enqueue(e); }
  bool get(std::uint64_t& e) { return of_.try_dequeue(e); }

 private:
  moodycamel::ConcurrentQueue<std::uint64_t> of_;
};

}  // namespace

made_collection moodycamel_queue(const collection_job& job) { return made<moodycamel_queue_of>(job); }

}  // namespace polder::bench::rivals
