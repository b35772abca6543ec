#pragma once
// lent_slots — slots that belong to no thread: whoever has one may hand it to another thread.
//
//   progress   lend: lock-free; a step is repeated only because somebody else took the slot. give_back: wait-free
//   in malloc  no
//
// Rows of slots in a list that only grows; a slot is taken by a flag beside it.
//
// In a fork's child a slot may have nobody any more, and nobody can tell: who took it is not who has it. So it protects there
// what it did; but nobody should wait until a slot lets go that stands as it stood (each_as_at_fork).
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

  // Those that stand as they stood when the process forked.
  template <class F>
  void each_as_at_fork(F&& f) const {
    each([&](const hazard_slot& s) {
      const void* const then = static_cast<const lent&>(s).at_fork;
      if (then != nullptr && s.read() == then) f(s);
    });
  }

  // In a fork's child, whose thread is the only one.
  void after_fork() noexcept {
    for (row* r = first_.load(order::relaxed); r != nullptr; r = r->next.get()) {
      for (lent& l : r->slots) l.at_fork = l.read();
    }
  }

 private:
  // taken: somebody has the slot. Written by who takes it, by CAS, and by who gives it back. slot-lent: what the last
  // holder wrote to the slot.
  // at_fork: what stood here when the process forked. Written by the child's thread while it is the only one. If a living
  // thread protects the same address here again, no drain waits for that either: what is protected stays all the same.
  struct lent : hazard_slot {
    atomic<bool> taken;
    const void* at_fork = nullptr;
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
