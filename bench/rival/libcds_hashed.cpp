// libcds' hash maps: Michael's, Shalev and Shavit's split-ordered list, Feldman's trie of hashes. Those that take a size and
// a load get the number of keys that is expected, as ours does, and a load of one key a bucket.
#include <cds/urcu/general_buffered.h>
// The headers below take it for granted.
#include <cds/container/feldman_hashmap_hp.h>
#include <cds/container/feldman_hashmap_rcu.h>
#include <cds/container/michael_kvlist_hp.h>
#include <cds/container/michael_kvlist_rcu.h>
#include <cds/container/michael_map.h>
#include <cds/container/michael_map_rcu.h>
#include <cds/container/split_list_map.h>
#include <cds/container/split_list_map_rcu.h>

#include "rival/libcds.hpp"

namespace polder::bench::rivals {

namespace {

namespace cc = cds::container;
using key = libcds_key;

struct list_traits : cc::michael_list::traits {
  using less = std::less<key>;
};
struct michael_traits : cc::michael_map::traits {
  using hash = spread;
  using item_counter = cds::atomicity::empty_item_counter;  // nobody asks
};
struct split_traits : cc::split_list::traits {
  using ordered_list = cc::michael_list_tag;
  using ordered_list_traits = list_traits;
  using hash = spread;
  using item_counter = cds::atomicity::cache_friendly_item_counter;  // it needs one, to grow
};
struct feldman_traits : cc::feldman_hashmap::traits {
  using hash = spread;
};

template <class Reclaimer>
struct michael
    : cc::MichaelHashMap<Reclaimer, cc::MichaelKVList<Reclaimer, key, key, list_traits>, michael_traits> {
  using base = cc::MichaelHashMap<Reclaimer, cc::MichaelKVList<Reclaimer, key, key, list_traits>, michael_traits>;
  explicit michael(std::size_t keys) : base(keys, 1) {}
  static std::unique_ptr<michael> made_for(std::size_t keys) { return std::make_unique<michael>(keys); }
};
template <class Reclaimer>
struct split : cc::SplitListMap<Reclaimer, key, key, split_traits> {
  using base = cc::SplitListMap<Reclaimer, key, key, split_traits>;
  explicit split(std::size_t keys) : base(keys, 1) {}
  static std::unique_ptr<split> made_for(std::size_t keys) { return std::make_unique<split>(keys); }
};
template <class Reclaimer>
struct feldman : cc::FeldmanHashMap<Reclaimer, key, key, feldman_traits> {
  using base = cc::FeldmanHashMap<Reclaimer, key, key, feldman_traits>;
  // The array at the head has room for half of the keys; those below for 16.
  explicit feldman(std::size_t keys) : base(static_cast<std::size_t>(std::bit_width(keys)) - (keys > 1), 4) {}
  static std::unique_ptr<feldman> made_for(std::size_t keys) { return std::make_unique<feldman>(keys); }
};

}  // namespace

const char* libcds_michael(run& r, const set_job& job) {
  return execute<libcds_map<michael<libcds_rcu>, libcds_rcu>>(r, job);
}
const char* libcds_michael_hp(run& r, const set_job& job) {
  return execute<libcds_map<michael<libcds_hp>, libcds_hp>>(r, job);
}
const char* libcds_split(run& r, const set_job& job) {
  return execute<libcds_map<split<libcds_rcu>, libcds_rcu>>(r, job);
}
const char* libcds_split_hp(run& r, const set_job& job) {
  return execute<libcds_map<split<libcds_hp>, libcds_hp>>(r, job);
}
const char* libcds_feldman(run& r, const set_job& job) {
  return execute<libcds_map<feldman<libcds_rcu>, libcds_rcu>>(r, job);
}
const char* libcds_feldman_hp(run& r, const set_job& job) {
  return execute<libcds_map<feldman<libcds_hp>, libcds_hp>>(r, job);
}

}  // namespace polder::bench::rivals
