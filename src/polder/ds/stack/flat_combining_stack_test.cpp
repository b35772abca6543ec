// flat_combining_stack under what is asked of every collection.
#include <polder/ds/stack/flat_combining_stack.hpp>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(flat_combining_stack, flat_combining_stack);

}  // namespace
}  // namespace polder::ds::collection_suite
