#pragma once
// lent_slots — slots that belong to no thread: whoever has one may hand it to another thread.
//
//   progress   lend: lock-free; a step is repeated only because somebody else took the slot. give_back: wait-free
//   in malloc  no
//
// Rows of slots in a list that only grows; a slot is taken by a flag beside it.
#include <polder/base/config.hpp>
#include <polder/smr/hazard/hazard_slot.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

class lent_slots {
 public:
  lent_slots() = default;
  lent_slots(const lent_slots&) = delete;
  lent_slots& operator=(const lent_slots&) = delete;
  ~lent_slots() {
    for (row* r = first_.load(order::relaxed); r != nullptr;) {
      row* const next = r->next.get();
      delete r;
      r = next;
    }
  }

  // Throws std::bad_alloc. `grown(n)`: there are n more slots.
  template <class Grown>
  hazard_slot& lend(Grown&& grown) {
    for (row* r = first_.load(order::acquire); r != nullptr; r = r->next.get()) {  // sync: row-made
      for (lent& l : r->slots) {
        bool expected = false;
        if (!l.taken.load(order::relaxed) &&
            l.taken.cas(expected, true, order::acquire, order::relaxed))  // sync: slot-lent
          return l;
      }
    }
    row* const made = new row;
    made->slots[0].taken.store(true, order::relaxed);
    row* before = first_.load(order::relaxed);
    do {
      made->next.set(before);
    } while (!first_.cas(before, made, order::release, order::relaxed));  // sync: row-made
    grown(row::size);
    return made->slots[0];
  }

  static void give_back(hazard_slot& s) noexcept {
    s.clear();
    static_cast<lent&>(s).taken.store(false, order::release);  // sync: slot-lent
  }

  template <class F>
  void each(F&& f) const {
    for (const row* r = first_.load(order::acquire); r != nullptr; r = r->next.get()) {  // sync: row-made
      for (const lent& l : r->slots) f(static_cast<const hazard_slot&>(l));
    }
  }

 private:
  // taken: somebody has the slot. Written by who takes it, by CAS, and by who gives it back. slot-lent: what the last
  // holder wrote to the slot.
  struct lent : hazard_slot {
    atomic<bool> taken;
  };
  struct alignas(false_sharing_range) row {
    static constexpr unsigned size = 8;
    lent slots[size];
    plain<row*> next;  // written before the row is linked
  };

  // first_: written by who makes a row, by CAS; read by who looks for a slot, or scans. row-made: the row is whole.
  atomic<row*> first_;
};

}  // namespace polder::smr
