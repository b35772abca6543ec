#pragma once
// wcq_ring — a ring of elements of any size behind two rings of their places whose threads help each other: scq_ring, of which
// every call ends.
//
//   paper      Nikolaev and Ravindran, "wCQ: a fast wait-free queue with bounded memory usage", SPAA 2022
//   progress   wait-free (helped_index_ring.hpp), but for two things outside of it: the first call of a thread whose number is
//              higher than all before may allocate its row of records, and throws std::bad_alloc if it cannot; and an element's
//              own move is the element's. A box that a throwing move gave back goes through a lock-free list (collection.hpp)
//   in malloc  no: the records
//   deviation  see helped_index_ring.hpp
//
// States, invariant: ring_of_places.hpp. Nothing is allocated for an element, and what was allocated for a thread is used by
// the next one of its number: memory is bounded by the capacity and by the threads at once.
#include <cstddef>
#include <optional>
#include <stdexcept>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/helped_index_ring.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/own_number.hpp>
#include <polder/ds/parts/per_thread.hpp>
#include <polder/ds/parts/ring_capacity.hpp>
#include <polder/ds/parts/ring_of_places.hpp>
#include <polder/smr/thread_slot.hpp>

namespace polder::ds {

template <class T, class R, class Memory, class Observer>
class wcq_ring_under : public collection<wcq_ring_under<T, R, Memory, Observer>, T, in_node<T>>,
                       public queue_names<wcq_ring_under<T, R, Memory, Observer>, T> {
 public:
  static constexpr collection_info info = {
      .name = "wcq-ring",
      .title = "wait-free circular queue (wCQ)",
      .kind = shape::queue,
      .order = semantics::linearizable,
      .putters = "wait-free, once the thread's record is there",
      .getters = "wait-free, once the thread's record is there",
      .capacity = "a power of two; full may be said while getters are at work",
      .paper = "Nikolaev and Ravindran, SPAA 2022",
      .year = 2022,
      .parameters =
          "capacity (4096), rounded up to a power of two; patience: tries before a call asks for help (16); "
          "helping_delay: calls between two looks at another thread (16)",
  };
  using kept = typename in_node<T>::kept;

  // Throws std::invalid_argument, std::bad_alloc.
  explicit wcq_ring_under(std::size_t capacity = usual_ring_capacity, unsigned patience = 16,
                          unsigned helping_delay = 16)
      : places_(ring_capacity(capacity, info.name), checked(patience, helping_delay)) {}
  wcq_ring_under(const wcq_ring_under&) = delete;
  wcq_ring_under& operator=(const wcq_ring_under&) = delete;
  ~wcq_ring_under() {
    while (places_.remove()) {
    }
  }

  std::size_t capacity() const noexcept { return places_.size(); }

 private:
  friend collection<wcq_ring_under, T, in_node<T>>;

  using places_ring = helped_index_ring<Memory, per_thread, Observer>;

  static typename places_ring::options checked(unsigned patience, unsigned helping_delay) {
    if (helping_delay == 0) throw std::invalid_argument("wcq-ring: helping_delay is 0, it must be at least 1");
    return {patience, helping_delay, smr::thread_slot::most};
  }

  bool insert(kept& e) {
    const own_number self;
    places_.admit(smr::thread_slot::number(self));
    return places_.insert(e, smr::thread_slot::number(self));
  }
  std::optional<kept> remove() {
    const own_number self;
    places_.admit(smr::thread_slot::number(self));
    return places_.remove(smr::thread_slot::number(self));
  }

  ring_of_places<kept, Memory, places_ring> places_;
};

template <class T, class R, class Memory = heap_memory>
using wcq_ring = wcq_ring_under<T, R, Memory, unobserved_steps>;

}  // namespace polder::ds
