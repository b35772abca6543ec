#pragma once
// collections — queues, stacks and pools of other libraries as workloads see them (collection/table.hpp).
#include <memory>

#include <polder/ds/parts/ring_capacity.hpp>

#include "collection/table.hpp"

namespace polder::bench::rivals {

// Rival: enqueue or push, and so on, by two functions of its own: put(element), get(element).
template <class Rival>
class rival_collection : public any_collection {
 public:
  bool put(std::uint64_t element) final { return of_.put(element); }
  bool get(std::uint64_t& element) final { return of_.get(element); }
  void enter_thread() final {
    if constexpr (requires { of_.enter_thread(); }) of_.enter_thread();
  }
  void leave_thread() final {
    if constexpr (requires { of_.leave_thread(); }) of_.leave_thread();
  }

  // By its name; what it promises is for its own papers to say.
  order_promise order() const final { return {kind_, std::nullopt}; }

  explicit rival_collection(const collection_job& job)
      : kind_(job.structure.find("stack") == std::string_view::npos ? ds::shape::queue : ds::shape::stack),
        of_(job) {}

 private:
  const ds::shape kind_;
  Rival of_;
};

template <class Rival>
made_collection made(const collection_job& job) {
  if (job.size != 0 && !Rival::sized) return {nullptr, "this rival has no size: size=0"};
  return {std::make_unique<rival_collection<Rival>>(job)};
}

// As ours.
inline std::size_t capacity(const collection_job& job) {
  return job.size == 0 ? ds::usual_ring_capacity : job.size;
}

}  // namespace polder::bench::rivals
