// ellen_bst under what is asked of every map, and the states of its inner nodes.
#include <polder/ds/tree/ellen_bst.hpp>

#include <polder/ds/tree/map_suite_test.hpp>

namespace polder::ds::map_suite {
namespace {

template <class K, class V, class R>
using ellen_bst_of = ellen_bst<K, V, R>;
POLDER_MAP_SUITE(ellen_bst, ellen_bst_of);

// In memory, with keys and values of eight bytes and a reclaimer that needs no header.
using small = ellen_bst<long, long, eager::leaky>;
static_assert(sizeof(small::leaf) == 32 && sizeof(small::inner) == 40 && sizeof(small::record) == 40);

static_assert(legal(bst_state::clean, bst_state::to_insert) && legal(bst_state::to_insert, bst_state::clean));
static_assert(legal(bst_state::clean, bst_state::to_delete) && legal(bst_state::to_delete, bst_state::clean));
static_assert(legal(bst_state::clean, bst_state::marked) && !legal(bst_state::marked, bst_state::clean));
static_assert(!legal(bst_state::to_insert, bst_state::to_delete) &&
              !legal(bst_state::to_delete, bst_state::marked));

}  // namespace
}  // namespace polder::ds::map_suite
