// occ_avl under what is asked of every map, and the size of its nodes.
#include <polder/ds/tree/occ_avl.hpp>

#include <polder/ds/tree/map_suite_test.hpp>

namespace polder::ds::map_suite {
namespace {

template <class K, class V, class R>
using occ_avl_of = occ_avl<K, V, R>;
POLDER_MAP_SUITE(occ_avl, occ_avl_of);

// In memory, with keys and values of eight bytes and a reclaimer that needs no header.
using small = occ_avl<long, long, eager::leaky>;
static_assert(sizeof(small::node) == 64 && sizeof(occ_avl<long, nothing, eager::leaky>::node) <= 64);

}  // namespace
}  // namespace polder::ds::map_suite
