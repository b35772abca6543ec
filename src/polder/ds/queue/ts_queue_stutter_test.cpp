// ts_queue with a counter of each thread, under what is asked of every collection.
#include <polder/ds/queue/ts_queue.hpp>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(ts_queue_stutter, ts_queue_stutter);

}  // namespace
}  // namespace polder::ds::collection_suite
