// treiber_stack under what is asked of every collection.
#include <polder/ds/stack/treiber_stack.hpp>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

// Not every compiler takes a template of four, with a default, for one of three.
template <class T, class R, class M>
using plain_one = treiber_stack<T, R, M>;
POLDER_COLLECTION_SUITE(treiber_stack, plain_one);

}  // namespace
}  // namespace polder::ds::collection_suite
