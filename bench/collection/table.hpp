#pragma once
// table — queues, stacks and pools as workloads see them, whoever wrote them: each, ours or a rival's, behind the same
// two virtual calls, so that a workload is compiled once and what a call costs is alike for all.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <polder/ds/collection_info.hpp>
#include <polder/smr/drain.hpp>
#include <polder/smr/reclaimer.hpp>

namespace polder::bench {

// In which order elements should come out.
struct order_promise {
  ds::shape kind = ds::shape::queue;
  std::optional<std::size_t> k = {};  // how many an element may overtake; none: no such promise is known
};

class any_collection {
 public:
  virtual ~any_collection() = default;
  virtual bool put(std::uint64_t element) = 0;   // false: it is full
  virtual bool get(std::uint64_t& element) = 0;  // false: it says that it is empty

  // For rivals whose threads must say that they come and go.
  virtual void enter_thread() {}
  virtual void leave_thread() {}

  virtual order_promise order() const { return {}; }

  // What its domain has seen; when the structure is gone and all that it retired is reclaimed.
  virtual smr::garbage close() { return {}; }
};

struct collection_job {
  std::string_view structure;
  std::string_view reclaimer;  // own: a rival's
  std::string_view memory;     // heap, preallocated
  smr::drain_policy drain;
  std::size_t size;      // k, p or capacity; 0: its usual one
  std::size_t elements;  // as many are put in all, at most about
};

struct made_collection {
  std::unique_ptr<any_collection> of;
  const char* why = nullptr;  // there is none
  // At once; 0: any number.
  unsigned most_putters = 0;
  unsigned most_getters = 0;
  bool waits = false;  // it never says that it is empty
};

struct collection_entry {
  std::string_view name;
  made_collection (*make)(const collection_job&);
  bool rival = false;
};

// Ends with one that has no name. Made by the build from ds/all.hpp.
extern const collection_entry collection_table[];

// Rivals are in a module of their own, as those of the workload `set` are (set/set_table.hpp).
made_collection make_rival(const collection_job&);
inline constexpr char rival_collections_name[] = "polder_bench_rival_collections";

}  // namespace polder::bench
