#pragma once
// flat_combining — a collection over a sequential structure and a combiner.
#include <new>
#include <optional>

#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/combining_seats.hpp>

namespace polder::ds {

template <class Self, class T, class Sequence>
class flat_combining : public collection<Self, T, in_node<T>> {
 public:
  using kept = typename in_node<T>::kept;

 protected:
  flat_combining() = default;
  ~flat_combining() = default;

 private:
  friend collection<Self, T, in_node<T>>;

  bool insert(kept& e) {
    typename combining_seats<Sequence>::seat seat(combining_);
    if (!seat.put(e)) throw std::bad_alloc();
    return true;
  }
  std::optional<kept> remove() {
    typename combining_seats<Sequence>::seat seat(combining_);
    return seat.take();
  }

  combining_seats<Sequence> combining_;
};

}  // namespace polder::ds
