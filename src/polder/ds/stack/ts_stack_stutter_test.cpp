// ts_stack with a counter of each thread, under what is asked of every collection.
#include <polder/ds/stack/ts_stack.hpp>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(ts_stack_stutter, ts_stack_stutter);

}  // namespace
}  // namespace polder::ds::collection_suite
