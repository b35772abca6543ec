#pragma once
// flat_combining — a collection over a sequential structure and a combiner.
#include <memory>
#include <optional>
#include <utility>

#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/combining_seats.hpp>

namespace polder::ds {

template <class Self, class T, class Sequence>
class flat_combining : public collection<Self, T, in_node<T>> {
 public:
  using kept = typename in_node<T>::kept;

 protected:
  flat_combining() = default;
  ~flat_combining() {
    while (remove()) {
    }
  }

 private:
  friend collection<Self, T, in_node<T>>;
  using node = typename Sequence::node;

  bool insert(kept& e) {
    typename combining_seats<Sequence>::seat seat(combining_);
    seat.put(new node(std::move(e)));
    return true;
  }
  std::optional<kept> remove() {
    typename combining_seats<Sequence>::seat seat(combining_);
    const std::unique_ptr<node> taken(seat.take());
    if (taken == nullptr) return std::nullopt;
    return taken->element.take();
  }

  combining_seats<Sequence> combining_;
};

}  // namespace polder::ds
