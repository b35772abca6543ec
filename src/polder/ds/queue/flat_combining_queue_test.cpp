// flat_combining_queue under what is asked of every collection.
#include <polder/ds/queue/flat_combining_queue.hpp>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(flat_combining_queue, flat_combining_queue);

}  // namespace
}  // namespace polder::ds::collection_suite
