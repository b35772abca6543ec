// ms_queue under what is asked of every collection.
#include <polder/ds/queue/ms_queue.hpp>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(ms_queue, ms_queue);

}  // namespace
}  // namespace polder::ds::collection_suite
