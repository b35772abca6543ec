#pragma once
// rendezvousing — a pool whose gets wait a little on a ring of slots, where puts look for them first.
//
//   paper      Afek, Hakimi and Morrison, "Fast and scalable rendezvousing", DISC 2011
//   progress   lock-free: a get waits for `patience` looks at most, and nobody waits for it
//   in malloc  no: put allocates
//   deviation  there a put waits for a get and a get for a put, for ever; that is no pool for one thread. Here a put that
//              meets nobody leaves its element in a stack, and a get looks there before and after it waits, so it says "empty"
//              only if the stack was, at that moment: exact, since a put and a get that met are one after the other then. The
//              ring's size is fixed, there it adapts
//
// States of a slot: parts/meeting_slot.hpp. Gets wait, puts come by.
//
// Invariant: the elements are the stack's; a node in a slot belongs to the get that waits there.
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/meeting_slot.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/random_draw.hpp>
#include <polder/ds/stack/treiber_stack.hpp>
#include <polder/os/processors.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class rendezvousing : public collection<rendezvousing<T, R, Memory>, T, in_node<T>> {
 public:
  static constexpr collection_info info = {
      .name = "rendezvousing",
      .title = "rendezvousing pool",
      .kind = shape::pool,
      .order = semantics::pool,
      .putters = "lock-free",
      .getters = "lock-free: waits a bounded time",
      .paper = "Afek, Hakimi and Morrison, DISC 2011",
      .year = 2011,
      .parameters = "ring: how many slots; the processors. patience: how often a get looks at its slot; 128",
      .protection = needs::pointer,
  };
  using kept = typename in_node<T>::kept;

  // Throws std::invalid_argument if the ring has no slot, and std::bad_alloc.
  explicit rendezvousing(typename R::domain& domain, std::size_t ring = os::processors(), unsigned patience = 128)
      : size_(checked(ring)), patience_(patience), slots_(new slot[ring]), rest_(domain) {}
  rendezvousing(const rendezvousing&) = delete;
  rendezvousing& operator=(const rendezvousing&) = delete;

  // Whether a get waits in a slot: a hint, for tests.
  bool awaited() const noexcept {
    for (std::size_t i = 0; i != size_; ++i) {
      if (slots_[i].is_awaited()) return true;
    }
    return false;
  }

 private:
  friend collection<rendezvousing, T, in_node<T>>;

  struct node : Memory {
    explicit node(kept&& e) noexcept : element(std::move(e)) {}
    held<kept> element;
  };
  using slot = meeting_slot<node>;

  static std::size_t checked(std::size_t ring) {
    if (ring == 0) throw std::invalid_argument("ring, the number of slots, is 0: nobody can meet");
    return ring;
  }

  bool insert(kept& e) {
    node* n = nullptr;
    std::size_t i = random_draw(size_);
    for (std::size_t tried = 0; tried != size_; ++tried, i = i + 1 == size_ ? 0 : i + 1) {
      if (!slots_[i].is_awaited()) continue;
      if (n == nullptr) n = new node(std::move(e));
      if (slots_[i].meet(n)) return true;
    }
    if (n != nullptr) {
      std::destroy_at(std::addressof(e));
      std::construct_at(std::addressof(e), taken(n));
    }
    return rest_.insert(e);
  }

  std::optional<kept> remove() {
    if (std::optional<kept> e = rest_.remove()) return e;
    std::size_t i = random_draw(size_);
    for (std::size_t tried = 0; tried != size_; ++tried, i = i + 1 == size_ ? 0 : i + 1) {
      if (!slots_[i].wait()) continue;
      if (node* const n = awaited(slots_[i])) return taken(n);
      break;
    }
    return rest_.remove();
  }

  // In a slot where the caller waits, which is free then. Null: nobody came.
  node* awaited(slot& mine) noexcept {
    for (unsigned looks = 0; looks != patience_ && mine.is_awaited(); ++looks) {
      if (looks % 64 == 63) std::this_thread::yield();
    }
    return mine.leave();
  }

  static kept taken(node* n) noexcept {
    const std::unique_ptr<node> mine(n);
    return mine->element.take();
  }

  const std::size_t size_;
  const unsigned patience_;
  const std::unique_ptr<slot[]> slots_;
  treiber_stack<T, R, Memory> rest_;
};

}  // namespace polder::ds
