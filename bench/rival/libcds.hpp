#pragma once
// libcds — the library's start and its two reclaimers: a user-space RCU that buffers (general_buffered), and Michael's hazard
// pointers. Each thread that calls attaches itself.
#include <cds/gc/hp.h>
#include <cds/init.h>
#include <cds/threading/model.h>
#include <cds/urcu/general_buffered.h>

#include <algorithm>
#include <functional>

#include "rival/rivals.hpp"

namespace polder::bench::rivals {

using libcds_key = std::uint64_t;
using libcds_rcu = cds::urcu::gc<cds::urcu::general_buffered<>>;
using libcds_hp = cds::gc::HP;

class libcds_library {
 public:
  libcds_library() { cds::Initialize(); }
  libcds_library(const libcds_library&) = delete;
  libcds_library& operator=(const libcds_library&) = delete;
  ~libcds_library() { cds::Terminate(); }
};

class libcds_thread {
 public:
  libcds_thread() { cds::threading::Manager::attachThread(); }
  libcds_thread(const libcds_thread&) = delete;
  libcds_thread& operator=(const libcds_thread&) = delete;
  ~libcds_thread() { cds::threading::Manager::detachThread(); }
};

// The reclaimer's one instance; slots: how many pointers a thread of the map protects.
template <class Reclaimer>
class libcds_reclaimer {
 public:
  explicit libcds_reclaimer(std::size_t) {}

 private:
  Reclaimer rcu_;
};
template <>
class libcds_reclaimer<libcds_hp> {
 public:
  static constexpr std::size_t most_threads = 260;
  explicit libcds_reclaimer(std::size_t slots) : hp_(std::max<std::size_t>(slots, 8), most_threads) {}

 private:
  libcds_hp hp_;
};

template <class Map>
constexpr std::size_t slots_of() {
  if constexpr (requires { Map::c_nHazardPtrCount; }) return Map::c_nHazardPtrCount;
  else return 0;
}

// Map: of libcds, made from (number of keys) or from nothing.
template <class Map, class Reclaimer>
class libcds_map {
 public:
  explicit libcds_map(std::size_t keys) : reclaimer_(slots_of<Map>()), map_(made(keys)) {}

  bool insert(libcds_key k, libcds_key v) { return map_->insert(k, v); }
  bool erase(libcds_key k) { return map_->erase(k); }
  bool contains(libcds_key k) { return map_->contains(k); }
  static void enter_thread() { cds::threading::Manager::attachThread(); }
  static void leave_thread() { cds::threading::Manager::detachThread(); }

 private:
  static std::unique_ptr<Map> made(std::size_t keys) {
    if constexpr (requires { Map::made_for(keys); }) return Map::made_for(keys);
    else return std::make_unique<Map>();
  }

  const libcds_library library_;
  const libcds_reclaimer<Reclaimer> reclaimer_;
  const libcds_thread thread_;
  const std::unique_ptr<Map> map_;
};

}  // namespace polder::bench::rivals
