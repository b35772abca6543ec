#pragma once
// descriptor_stack — DescAvail: the descriptors that are free, as a stack of pointers protected by hazard pointers.
//
//   paper      Michael, PLDI 2004, figure 7 and section 3.2.5: SafeCAS by the methodology of Michael, TPDS 2004
//   progress   lock-free. No thread registers: an operation borrows a hazard slot for its own duration, so a signal handler
//              has one of its own, and a thread that ends inside takes one slot and at most the waiting list along. Who
//              finds no slot does without: the caller makes a new descriptor instead
//   in malloc  yes
//   deviation  DescAlloc's other half, memory for new descriptors, is descriptor_table.hpp. DescRetire as printed pushes at
//              once; the methodology asks that a descriptor which somebody is about to pop stays away until he is
//              through, so such a one waits in a second stack, which is only ever taken whole (no ABA there)
//
//              take                             retire, nobody protects it
//   free ───────────────────▶ held ───────────────────────────────────────────▶ free
//                              │ ▲                                               ▲
//        retire, somebody      │ └──── a later retire takes the waiting list ────┤
//        protects it           ▼                                                 │
//                            waiting ────────────────────────────────────────────┘
//
// Invariant: a descriptor is pushed only when no slot protects it after it was last popped. So while a slot protects the
// head, that descriptor is not popped and pushed again, and its link is what it was.
#include <polder/sync/atomic.hpp>

namespace polder::heap::michael {

// T has `atomic<T*> next`, and its memory stays readable for ever.
template <class T, unsigned Slots = 64>
class descriptor_stack {
 public:
  descriptor_stack() noexcept = default;
  descriptor_stack(const descriptor_stack&) = delete;
  descriptor_stack& operator=(const descriptor_stack&) = delete;

  // Null: there is none, or no slot to take it safely.
  [[nodiscard]] T* take() noexcept {
    if (head_.load(order::relaxed) == nullptr) return nullptr;
    atomic<const T*>* const slot = borrow();
    if (!slot) return nullptr;
    T* taken = nullptr;
    while (T* const top = head_.load(order::relaxed)) {
      slot->store(top, order::release);  // sync: hazard-clear
      // Store the slot, then look at the head again; who popped `top` and retires it pops first, then looks at the slots.
      // One of the two sees the other.
      fence(order::seq_cst);                            // sync: hazard
      if (head_.load(order::acquire) != top) continue;  // sync: desc-retire
      T* const next = top->next.load(order::relaxed);
      T* expected = top;
      if (head_.cas(expected, next, order::relaxed, order::relaxed)) {
        taken = top;
        break;
      }
    }
    slot->store(nullptr, order::release);  // sync: hazard-clear
    return taken;
  }

  void retire(T& t) noexcept {
    push(waiting_, &t, &t);
    T* next = waiting_.exchange(nullptr, order::acquire);  // sync: desc-retire
    fence(order::seq_cst);                                 // sync: hazard
    while (T* const one = next) {
      next = one->next.load(order::relaxed);
      push(is_protected(one) ? waiting_ : head_, one, one);
    }
  }

  // How many are free or waiting; only while nobody is inside.
  template <class Each>
  void each(Each f) const noexcept {
    for (const T* t = head_.load(order::acquire); t; t = t->next.load(order::relaxed)) f(*t);  // sync: desc-retire
    for (const T* t = waiting_.load(order::acquire); t; t = t->next.load(order::relaxed))
      f(*t);  // sync: desc-retire
  }

 private:
  static void push(atomic<T*>& stack, T* first, T* last) noexcept {
    T* now = stack.load(order::relaxed);
    do {
      last->next.store(now, order::relaxed);
    } while (!stack.cas(now, first, order::release, order::relaxed));  // sync: desc-retire
  }

  // A slot that is borrowed and protects nothing yet holds the slot's own address.
  atomic<const T*>* borrow() noexcept {
    for (atomic<const T*>& slot : slots_) {
      const T* none = nullptr;
      if (slot.load(order::relaxed) == nullptr &&
          slot.cas(none, reinterpret_cast<const T*>(&slot), order::acquire, order::relaxed))  // sync: hazard-clear
        return &slot;
    }
    return nullptr;
  }

  bool is_protected(const T* t) const noexcept {
    for (const atomic<const T*>& slot : slots_)
      if (slot.load(order::acquire) == t) return true;  // sync: hazard-clear
    return false;
  }

  // head_, waiting_ — the two stacks.
  //   written by  any thread, by RMW only
  //   order       desc-retire: the pusher's release publishes the link and all that was done to the descriptor; who pops
  //                 acquires it with the look at the head that follows the fence, who takes the waiting list with the
  //                 exchange. All writes are RMWs: one release sequence
  //   ABA         head_: the slots, see the invariant. waiting_: only pushed to and taken whole
  atomic<T*> head_;
  atomic<T*> waiting_;

  // slots_ — the hazard pointers; null: free.
  //   written by  who borrows one (CAS), then that thread alone
  //   read by     retire
  //   order       hazard: see take(); hazard-clear: a borrower's CAS on the head is done when its slot is seen to hold something
  //                 else, be it nothing, or the next borrower's
  atomic<const T*> slots_[Slots];
};

}  // namespace polder::heap::michael
