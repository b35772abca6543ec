#pragma once
// over_segments — a collection over k-segments: which thread asks, where it begins to search, and what is left at the end.
//
// Order is a list or a stack of segments (queue/segment_list.hpp, stack/segment_stack.hpp).
#include <cstddef>
#include <cstdint>
#include <optional>

#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/k_segment.hpp>
#include <polder/ds/parts/random.hpp>
#include <polder/smr/thread_slot.hpp>

namespace polder::ds {

template <class Self, class T, class R, template <class, class, class> class Order, class Memory, class Puts>
class over_segments : public collection<Self, T, in_word<T>> {
  using segments = Order<R, Memory, Puts>;
  using guard = typename segments::guard;

 public:
  using kept = typename in_word<T>::kept;
  over_segments(const over_segments&) = delete;
  over_segments& operator=(const over_segments&) = delete;

 protected:
  over_segments(typename R::domain& domain, std::uint32_t k) : over_segments(guard(domain), domain, k) {}
  ~over_segments() {
    while (std::optional<kept> e = remove()) in_word<T>::drop(*e);
    guard g(domain_);
    segments_.end(g);
  }

  std::size_t segment_size() const noexcept { return segments_.k(); }

 private:
  friend collection<Self, T, in_word<T>>;

  over_segments(guard&& g, typename R::domain& domain, std::uint32_t k) : domain_(domain), segments_(g, k) {}

  bool insert(kept& e) {
    guard g(domain_);
    segments_.put(g, e, asker(), random::next());
    return true;
  }
  std::optional<kept> remove() {
    guard g(domain_);
    return segments_.get(g, random::next());
  }
  // A number is used again when its thread has ended: what that left behind counts as the next one's, which keeps them in
  // order too.
  static slot_state::owner_number asker() noexcept {
    if constexpr (Puts::own_segments) {
      static_assert(smr::thread_slot::most <= slot_state::owner_number(-1));
      return slot_state::owner_number(smr::thread_slot::mine());
    } else {
      return 0;
    }
  }

  typename R::domain& domain_;
  segments segments_;
};

}  // namespace polder::ds
