// TBB's maps. concurrent_hash_map locks its buckets and erases. concurrent_map, a skip list, and concurrent_unordered_map, a
// split-ordered list, have no erase that others may run beside: there a key that is deleted stays as a node with a mark in
// its value, and inserting it again clears the mark. So after the set is filled they neither allocate, nor free, nor change
// a link, which no set that gives memory back can do: a lead over them is won against more than they offer.
#include <tbb/concurrent_hash_map.h>
#include <tbb/concurrent_map.h>
#include <tbb/concurrent_unordered_map.h>

#include <atomic>
#include <memory>
#include <utility>

#include "rival/rivals.hpp"

namespace polder::bench::rivals {

namespace {

using key = std::uint64_t;

struct threads_need_nothing {
  static void enter_thread() {}
  static void leave_thread() {}
};

struct marked_value {
  marked_value(key v) : value(v) {}
  marked_value(const marked_value& other) : value(other.value) {}
  const key value;
  std::atomic<bool> here{true};
};

template <class Map>
class marking : public threads_need_nothing {
 public:
  template <class... Arguments>
  explicit marking(std::size_t keys) : map_(made(keys)) {}

  bool insert(key k, key v) {
    const auto [at, fresh] = map_->emplace(k, v);
    return fresh || mark(at->second, false, true);
  }
  bool erase(key k) {
    const auto at = map_->find(k);
    return at != map_->end() && mark(at->second, true, false);
  }
  bool contains(key k) {
    const auto at = map_->find(k);
    return at != map_->end() && at->second.here.load(std::memory_order_acquire);  // sync: mark
  }

 private:
  static std::unique_ptr<Map> made(std::size_t keys) {
    if constexpr (std::is_constructible_v<Map, std::size_t>) return std::make_unique<Map>(keys);
    else return std::make_unique<Map>();
  }
  static bool mark(marked_value& v, bool from, bool to) {
    return v.here.load(std::memory_order_relaxed) == from &&
           v.here.compare_exchange_strong(from, to, std::memory_order_acq_rel,  // sync: mark
                                          std::memory_order_relaxed);
  }

  const std::unique_ptr<Map> map_;
};

struct hash_and_equal {
  std::size_t hash(key k) const { return spread{}(k); }
  bool equal(key a, key b) const { return a == b; }
};

class locking : public threads_need_nothing {
 public:
  explicit locking(std::size_t keys) : map_(keys) {}
  bool insert(key k, key v) { return map_.insert(std::pair<const key, key>(k, v)); }
  bool erase(key k) { return map_.erase(k); }
  bool contains(key k) { return map_.count(k) != 0; }

 private:
  tbb::concurrent_hash_map<key, key, hash_and_equal, std::allocator<std::pair<const key, key>>> map_;
};

template <class T>
using on_the_heap = std::allocator<std::pair<const key, T>>;

}  // namespace

const char* tbb_map(run& r, const set_job& job) {
  return execute<marking<tbb::concurrent_map<key, marked_value, std::less<key>, on_the_heap<marked_value>>>>(r,
                                                                                                             job);
}
const char* tbb_hash_map(run& r, const set_job& job) { return execute<locking>(r, job); }
const char* tbb_unordered_map(run& r, const set_job& job) {
  return execute<marking<
      tbb::concurrent_unordered_map<key, marked_value, spread, std::equal_to<key>, on_the_heap<marked_value>>>>(
      r, job);
}

}  // namespace polder::bench::rivals
