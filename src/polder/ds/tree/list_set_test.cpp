// list_set under what is asked of every map, and the states of its nodes.
#include <polder/ds/tree/list_set.hpp>

#include <polder/ds/tree/map_suite_test.hpp>

namespace polder::ds::map_suite {
namespace {

template <class K, class V, class R>
using list_set_of = list_set<K, V, R>;
POLDER_MAP_SUITE(list_set, list_set_of);

// In memory, with keys and values of eight bytes and a reclaimer that needs no header.
static_assert(sizeof(list_set<long, long, eager::leaky>::node) == 24);
static_assert(sizeof(list_set<long, nothing, eager::leaky>::node) == 16);

using list = marked_list<long, long, eager::leaky>;

// Each arrow of the drawing, by hand.
TEST(marked_list, a_node_is_linked_then_marked_then_unlinked) {
  using enum list_node_state;
  static_assert(legal(made, linked) && legal(linked, marked) && legal(marked, unlinked));
  static_assert(!legal(linked, unlinked) && !legal(marked, linked) && !legal(unlinked, linked));
  drained<eager::leaky> domain;
  list::guard g(domain);
  list::head first;
  ASSERT_TRUE(list::insert(g, first, 1, 10));  // made → linked
  ASSERT_TRUE(list::insert(g, first, 2, 20));
  list::place p;
  ASSERT_TRUE(list::find(g, first, 1, p));
  list::node* const one = p.at.pointer();
  list::word seen = p.after;
  ASSERT_TRUE(one->next.cas(seen, seen.with(list::mark), order::relaxed, order::relaxed));  // linked → marked
  ASSERT_EQ(list::look(g, first, 1), nullptr);
  ASSERT_EQ(first.load(order::relaxed).pointer(), one);
  ASSERT_FALSE(list::erase(g, first, 1, [](long) {}));  // marked → unlinked, by who passes
  ASSERT_NE(first.load(order::relaxed).pointer(), one);
  ASSERT_EQ(one->next.load(order::relaxed), seen.with(list::mark));
  ASSERT_NE(list::look(g, first, 2), nullptr);
  list::clear(g, first);
}

}  // namespace
}  // namespace polder::ds::map_suite
