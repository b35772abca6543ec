// ts_deque with the clocks that read the processor's counter, under what is asked of every collection.
#include <polder/ds/deque/ts_deque.hpp>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(ts_deque_hardware, ts_deque_hardware);
POLDER_COLLECTION_SUITE(ts_deque_interval, ts_deque_interval);

}  // namespace
}  // namespace polder::ds::collection_suite
