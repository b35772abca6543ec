// skip_list under what is asked of every map, and the size of its towers.
#include <polder/ds/tree/skip_list.hpp>

#include <polder/ds/tree/map_suite_test.hpp>

namespace polder::ds::map_suite {
namespace {

template <class K, class V, class R>
using skip_list_of = skip_list<K, V, R>;
POLDER_MAP_SUITE(skip_list, skip_list_of);

// In memory, with keys and values of eight bytes and a reclaimer that needs no header.
using small = skip_list<long, long, eager::leaky>;
static_assert(sizeof(small::tower<1>) == 32 && sizeof(small::tower<4>) == 56);

}  // namespace
}  // namespace polder::ds::map_suite
