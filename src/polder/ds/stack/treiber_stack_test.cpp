// treiber_stack under what is asked of every collection.
#include <polder/ds/stack/treiber_stack.hpp>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(treiber_stack, treiber_stack);

}  // namespace
}  // namespace polder::ds::collection_suite
