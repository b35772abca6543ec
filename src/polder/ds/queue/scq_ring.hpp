#pragma once
// scq_ring — a ring of elements of any size behind two rings of their places, in which every index is at most once.
//
//   paper      Nikolaev, "A scalable, portable, and memory-efficient lock-free FIFO queue", DISC 2019, sec. 3 and fig. 4
//   progress   lock-free
//   in malloc  yes, once it is made
//
// States, invariant: ring_of_places.hpp. For as many threads at the same time as there are numbers of threads (65535): with
// more, an empty answer may be wrong.
#include <cstddef>
#include <optional>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/index_ring.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/ring_capacity.hpp>
#include <polder/ds/parts/ring_of_places.hpp>
#include <polder/smr/thread_slot.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class scq_ring : public collection<scq_ring<T, R, Memory>, T, in_node<T>>,
                 public queue_names<scq_ring<T, R, Memory>, T> {
 public:
  static constexpr collection_info info = {
      .name = "scq-ring",
      .title = "scalable circular queue (SCQ)",
      .kind = shape::queue,
      .order = semantics::linearizable,
      .putters = "lock-free",
      .getters = "lock-free",
      .capacity = "a power of two; full may be said while getters are at work",
      .paper = "Nikolaev, DISC 2019",
      .year = 2019,
      .parameters = "capacity (4096), rounded up to a power of two",
  };
  using kept = typename in_node<T>::kept;

  // Throws std::invalid_argument, std::bad_alloc.
  explicit scq_ring(std::size_t capacity = usual_ring_capacity)
      : places_(ring_capacity(capacity, info.name), std::size_t{smr::thread_slot::most}) {}
  scq_ring(const scq_ring&) = delete;
  scq_ring& operator=(const scq_ring&) = delete;
  ~scq_ring() {
    while (remove()) {
    }
  }

  std::size_t capacity() const noexcept { return places_.size(); }

 private:
  friend collection<scq_ring, T, in_node<T>>;

  bool insert(kept& e) noexcept { return places_.insert(e); }
  std::optional<kept> remove() noexcept { return places_.remove(); }

  ring_of_places<kept, Memory, index_ring<Memory>> places_;
};

}  // namespace polder::ds
