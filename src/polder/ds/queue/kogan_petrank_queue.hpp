#pragma once
// kogan_petrank_queue — a queue without a limit of which every operation ends, whatever the others do.
//
//   paper      Kogan and Petrank, "A methodology for creating fast wait-free data structures", PPoPP 2012
//   progress   as helped_queue.hpp. The first call of a thread whose number is higher than all before may allocate its row of
//              records
//   in malloc  no: put allocates
//   deviation  see helped_queue.hpp
#include <optional>
#include <stdexcept>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/helped_queue.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/per_thread.hpp>
#include <polder/smr/thread_slot.hpp>

namespace polder::ds {

template <class T, class R, class Memory, class Observer>
class kogan_petrank_queue_under
    : public collection<kogan_petrank_queue_under<T, R, Memory, Observer>, T, in_node<T>>,
      public queue_names<kogan_petrank_queue_under<T, R, Memory, Observer>, T> {
 public:
  static constexpr collection_info info = {
      .name = "kogan-petrank-queue",
      .title = "wait-free queue",
      .kind = shape::queue,
      .order = semantics::linearizable,
      .putters = "wait-free, where the reclaimer's protect is; lock-free under hazard pointers",
      .getters = "wait-free, where the reclaimer's protect is; lock-free under hazard pointers",
      .paper = "Kogan and Petrank, PPoPP 2012",
      .year = 2012,
      .parameters =
          "max_retries: on the fast path (10); helping_delay: operations between two looks at another thread (10)",
      .protection = needs::pointer,
  };
  using kept = typename in_node<T>::kept;

  // Throws std::bad_alloc, std::invalid_argument.
  explicit kogan_petrank_queue_under(typename R::domain& domain, unsigned max_retries = 10,
                                     unsigned helping_delay = 10)
      : domain_(domain), queue_(domain, checked(max_retries, helping_delay)) {}

 private:
  friend collection<kogan_petrank_queue_under, T, in_node<T>>;

  using queue = helped_queue<kept, R, Memory, per_thread, Observer>;
  using guard = typename queue::guard;

  static typename queue::options checked(unsigned max_retries, unsigned helping_delay) {
    if (helping_delay == 0)
      throw std::invalid_argument("kogan_petrank_queue: helping_delay is 0, it must be at least 1");
    return {max_retries, helping_delay};
  }

  // While a guard is open, a thread's number stays its own.
  bool insert(kept& e) {
    guard g(domain_);
    queue_.insert(g, e, smr::thread_slot::mine());
    return true;
  }
  std::optional<kept> remove() {
    guard g(domain_);
    return queue_.remove(g, smr::thread_slot::mine());
  }

  typename R::domain& domain_;
  queue queue_;
};

template <class T, class R, class Memory = heap_memory>
using kogan_petrank_queue = kogan_petrank_queue_under<T, R, Memory, unobserved>;

}  // namespace polder::ds
