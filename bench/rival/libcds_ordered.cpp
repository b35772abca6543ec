// libcds' ordered maps: Bronson et al.'s AVL tree, Ellen et al.'s binary search tree, Fraser's skip list.
#include <cds/urcu/general_buffered.h>
// The headers below take it for granted.
#include <cds/container/bronson_avltree_map_rcu.h>
#include <cds/container/ellen_bintree_map_hp.h>
#include <cds/container/ellen_bintree_map_rcu.h>
#include <cds/container/skip_list_map_hp.h>
#include <cds/container/skip_list_map_rcu.h>

#include "rival/libcds.hpp"

namespace polder::bench::rivals {

namespace {

namespace cc = cds::container;
using key = libcds_key;

struct avl_traits : cc::bronson_avltree::traits {
  using less = std::less<key>;
};
struct ellen_traits : cc::ellen_bintree::traits {
  using less = std::less<key>;
};
struct skip_traits : cc::skip_list::traits {
  using less = std::less<key>;
};

}  // namespace

const char* libcds_bronson(run& r, const set_job& job) {
  return execute<libcds_map<cc::BronsonAVLTreeMap<libcds_rcu, key, key, avl_traits>, libcds_rcu>>(r, job);
}
const char* libcds_ellen(run& r, const set_job& job) {
  return execute<libcds_map<cc::EllenBinTreeMap<libcds_rcu, key, key, ellen_traits>, libcds_rcu>>(r, job);
}
const char* libcds_ellen_hp(run& r, const set_job& job) {
  return execute<libcds_map<cc::EllenBinTreeMap<libcds_hp, key, key, ellen_traits>, libcds_hp>>(r, job);
}
const char* libcds_skip_list(run& r, const set_job& job) {
  return execute<libcds_map<cc::SkipListMap<libcds_rcu, key, key, skip_traits>, libcds_rcu>>(r, job);
}
const char* libcds_skip_list_hp(run& r, const set_job& job) {
  return execute<libcds_map<cc::SkipListMap<libcds_hp, key, key, skip_traits>, libcds_hp>>(r, job);
}

}  // namespace polder::bench::rivals
