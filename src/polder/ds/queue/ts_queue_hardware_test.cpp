// ts_queue with the clocks that read the processor's counter, under what is asked of every collection.
#include <polder/ds/queue/ts_queue.hpp>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(ts_queue_hardware, ts_queue_hardware);
POLDER_COLLECTION_SUITE(ts_queue_interval, ts_queue_interval);

}  // namespace
}  // namespace polder::ds::collection_suite
