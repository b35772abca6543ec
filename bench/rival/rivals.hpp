#pragma once
// rivals — structures of other libraries as the workload `set` sees them: the same keys, mix, prefill and checksum as ours.
// They reclaim in their own way, and tell nothing of it.
#include <polder/smr/reclaimer.hpp>

#include "set/set_run.hpp"

namespace polder::bench::rivals {

// Stands for the domain of a structure that has none of ours.
struct own_reclamation {
  smr::garbage statistics() const { return {}; }
};

// What the harness asks of a structure at rest, of one that can only be asked for single keys. Map: made from (number of
// keys that are expected), insert, erase, contains, enter_thread, leave_thread.
template <class Map>
class probed {
 public:
  using key = std::uint64_t;

  explicit probed(std::uint64_t keys) : keys_(keys), map_(static_cast<std::size_t>(keys / 2 + 1)) {}

  bool insert(key k, key v) { return map_.insert(k, v); }
  bool erase(key k) { return map_.erase(k); }
  bool contains(key k) { return map_.contains(k); }
  void enter_thread() { Map::enter_thread(); }
  void leave_thread() { Map::leave_thread(); }

  // Of what is at rest from here on: all keys are asked for once.
  std::size_t size_slow() { return held().size; }
  std::size_t key_sum_quiescent() { return held().keys; }
  void validate() const {}

 private:
  const key_balance& held() {
    if (held_) return *held_;
    held_.emplace();
    for (key k = 0; k != keys_; ++k) {
      if (!map_.contains(k)) continue;
      ++held_->size;
      held_->keys += k;
    }
    return *held_;
  }

  const std::uint64_t keys_;
  std::optional<key_balance> held_;
  Map map_;
};

template <class Map>
const char* execute(run& r, const set_job& job) {
  own_reclamation domain;
  probed<Map> set(job.keys);
  set_run<probed<Map>, own_reclamation>(r, job, set, domain, nullptr)();
  return nullptr;
}

// Spreads keys as ours do (ds/tree/hash_map.hpp), so that functions are compared with nobody's.
struct spread {
  std::size_t operator()(std::uint64_t key) const { return key * 0x9e37'79b9'7f4a'7c15; }
};

}  // namespace polder::bench::rivals
