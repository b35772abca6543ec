// ts_stack with the clocks that read the processor's counter, under what is asked of every collection.
#include <polder/ds/stack/ts_stack.hpp>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(ts_stack_hardware, ts_stack_hardware);
POLDER_COLLECTION_SUITE(ts_stack_interval, ts_stack_interval);

}  // namespace
}  // namespace polder::ds::collection_suite
