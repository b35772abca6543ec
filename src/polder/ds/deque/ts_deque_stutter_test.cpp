// ts_deque with a counter of each thread, under what is asked of every collection.
#include <polder/ds/deque/ts_deque.hpp>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(ts_deque_stutter, ts_deque_stutter);

}  // namespace
}  // namespace polder::ds::collection_suite
