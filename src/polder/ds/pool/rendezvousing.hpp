#pragma once
// rendezvousing — a pool whose gets wait a little on a ring of slots, where puts look for them first.
//
//   paper      Afek, Hakimi and Morrison, "Fast and scalable rendezvousing", DISC 2011
//   progress   lock-free: a get waits for `patience` looks at most, and nobody waits for it
//   in malloc  no: put allocates
//   deviation  there a put waits for a get and a get for a put, for ever; that is no pool for one thread. Here a put that
//              meets nobody leaves its element in a stack, and a get looks there before and after it waits, so it says "empty"
//              only if the stack was, at that moment: exact, since a put and a get that met are one after the other then. The
//              ring's size is fixed, there it adapts; a slot has no pointer to its waiter, who looks into the slot itself
//
// States of a slot. An arrow is one step; in brackets, who makes it and owes what.
//
//             wait [a get: look, for a while]
//     free ──────────────────────────────────▶ waited for ──meet [a put]──▶ a node
//       ▲ ▲                                     │                             │
//       │ └──────── withdraw [that get] ────────┘                             │
//       └──────────── done [that get: it has the node, which nobody else sees]┘
//
// Invariant: the elements are the stack's; a node in a slot belongs to the get that waits there.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/random_draw.hpp>
#include <polder/ds/stack/treiber_stack.hpp>
#include <polder/os/processors.hpp>
#include <polder/sync/atomic.hpp>

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
      if (slots_[i].now.load(order::relaxed) == word::waited_for()) return true;
    }
    return false;
  }

 private:
  friend collection<rendezvousing, T, in_node<T>>;

  struct node : Memory {
    explicit node(kept&& e) noexcept : element(std::move(e)) {}
    held<kept> element;
  };
  class word {
   public:
    constexpr word() noexcept = default;  // free
    explicit word(node* n) noexcept : bits_(reinterpret_cast<std::uintptr_t>(n)) {}
    static constexpr word waited_for() noexcept { return word(std::uintptr_t{1}); }
    node* met() const noexcept { return bits_ > 1 ? reinterpret_cast<node*>(bits_) : nullptr; }
    friend bool operator==(word, word) noexcept = default;

   private:
    explicit constexpr word(std::uintptr_t bits) noexcept : bits_(bits) {}
    std::uintptr_t bits_ = 0;
  };
  struct alignas(false_sharing_range) slot {
    // now — the state. Written by gets that wait, and by the put that meets one; read by both.
    //   order  met: the node is whole
    //   ABA    harmless: a put may meet whichever get waits
    atomic<word> now;
  };

  static std::size_t checked(std::size_t ring) {
    if (ring == 0) throw std::invalid_argument("ring, the number of slots, is 0: nobody can meet");
    return ring;
  }

  bool insert(kept& e) {
    node* n = nullptr;
    std::size_t i = random_draw(size_);
    for (std::size_t tried = 0; tried != size_; ++tried, i = i + 1 == size_ ? 0 : i + 1) {
      word now = slots_[i].now.load(order::relaxed);
      if (now != word::waited_for()) continue;
      if (n == nullptr) n = new node(std::move(e));
      if (slots_[i].now.cas(now, word(n), order::release, order::relaxed)) return true;  // sync: met
    }
    if (n != nullptr) {
      std::destroy_at(&e);
      std::construct_at(&e, taken(n));
    }
    return rest_.insert(e);
  }

  std::optional<kept> remove() {
    if (std::optional<kept> e = rest_.remove()) return e;
    std::size_t i = random_draw(size_);
    for (std::size_t tried = 0; tried != size_; ++tried, i = i + 1 == size_ ? 0 : i + 1) {
      word free;
      if (slots_[i].now.load(order::relaxed) != free ||
          !slots_[i].now.cas(free, word::waited_for(), order::relaxed, order::relaxed))
        continue;
      if (node* const n = wait(slots_[i])) return taken(n);
      break;
    }
    return rest_.remove();
  }

  // In a slot of the caller's, which is free then. Null: nobody came.
  node* wait(slot& mine) noexcept {
    for (unsigned looks = 0; looks != patience_; ++looks) {
      if (mine.now.load(order::relaxed) != word::waited_for()) break;
      if (looks % 64 == 63) std::this_thread::yield();
    }
    word now = word::waited_for();
    if (mine.now.cas(now, word(), order::acquire, order::acquire)) return nullptr;  // sync: met
    mine.now.store(word(), order::relaxed);
    return now.met();
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
