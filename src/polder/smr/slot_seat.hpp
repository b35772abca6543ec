#pragma once
// slot_seat — the words of one member: whether it is inside, and its slots, as many as its open guards need.
//
// The first guards' slots lie in the seat, further ones in rows that are made when they are needed and stay until the
// domain goes. A guard's slots lie side by side.
//
// Slot has clear(). Rows are made by the owner; whoever scans goes through them without a lock.
#include <cstddef>
#include <new>

#include <polder/base/config.hpp>
#include <polder/smr/presence.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

template <class Slot>
class slot_seat : public presence {
 public:
  static constexpr unsigned near = 8;

  slot_seat() = default;
  ~slot_seat() {
    for (row* r = rows_.load(order::relaxed); r != nullptr;) {
      row* const next = r->next;
      delete[] r->slots;
      delete r;
      r = next;
    }
  }

  // ---- the owner, inside ---------------------------------------------------------------------------------------------

  // n slots, side by side. Throws std::bad_alloc. `grown(k)`: there are k more slots.
  template <class Grown>
  [[gnu::always_inline]] Slot* take(unsigned n, Grown&& grown) {
    const unsigned at = top_;
    if (at + n <= near) [[likely]] {
      top_ = at + n;
      return near_ + at;
    }
    return take_far(n, grown);
  }

  // They are clear.
  [[gnu::always_inline]] void give(Slot* first, unsigned n) noexcept {
    if (first + n == near_ + top_) [[likely]]
      top_ = unsigned(first - near_);
    else give_late(first);
  }

  // No guard is open.
  [[gnu::always_inline]] void give_all() noexcept { top_ = 0; }

  // ---- anybody -------------------------------------------------------------------------------------------------------

  template <class F>
  void each(F&& f) const {
    for (const Slot& s : near_) f(s);
    for (const row* r = rows_.load(order::acquire); r != nullptr; r = r->next) {  // sync: row-made
      for (unsigned i = 0; i != r->size; ++i) f(r->slots[i]);
    }
  }

  // The member's own, outside, or anybody's in a fork's child.
  void vacate() noexcept {
    for (Slot& s : near_) s.clear();
    for (row* r = rows_.load(order::relaxed); r != nullptr; r = r->next) {
      for (unsigned i = 0; i != r->size; ++i) r->slots[i].clear();
      r->taken = false;
    }
    top_ = 0;
    presence::vacate();
  }

 private:
  // A run of slots for one guard at a time.
  struct row {
    row* next;
    Slot* slots;
    unsigned size;
    bool taken;  // owner only
  };

  template <class Grown>
  POLDER_NOINLINE Slot* take_far(unsigned n, Grown&& grown) {
    row* const first = rows_.load(order::relaxed);
    for (row* r = first; r != nullptr; r = r->next) {
      if (r->taken || r->size < n) continue;
      r->taken = true;
      return r->slots;
    }
    const unsigned size = n < near ? near : n;
    Slot* const slots = new Slot[size];
    row* const made = new (std::nothrow) row{first, slots, size, true};
    if (made == nullptr) {
      delete[] slots;
      throw std::bad_alloc();
    }
    rows_.store(made, order::release);  // sync: row-made
    grown(size);
    return slots;
  }

  // Guards that close in another order than they were opened leave holes until all are closed.
  POLDER_NOINLINE void give_late(Slot* first) noexcept {
    for (row* r = rows_.load(order::relaxed); r != nullptr; r = r->next) {
      if (r->slots == first) r->taken = false;
    }
  }

  unsigned top_ = 0;  // owner only: of near_, how many are taken
  Slot near_[near];
  // rows_: written by the owner; read by whoever scans. row-made: the row is whole. It only grows.
  atomic<row*> rows_;
};

// The slots of a guard that was just opened. Throws std::bad_alloc, and then the guard is closed again.
template <class Domain>
[[gnu::always_inline]] inline auto* slots_or_close(Domain& d, typename Domain::member& m, unsigned n) {
  struct undo {
    Domain& d;
    typename Domain::member* m;
    ~undo() {
      if (m != nullptr) d.close(*m);
    }
  } closing{d, &m};
  auto* const first = m.seat.take(n, [&](unsigned more) { d.scheme().grown(more); });
  closing.m = nullptr;
  return first;
}

// How a guard is opened and closed where the seats of members are slot_seats. Core has `fences`.
template <class Core>
class enters_slot_seats {
 public:
  template <class Member>
  [[gnu::always_inline]] void enter(Member& m) noexcept {
    m.seat.enter();
    static_cast<const Core&>(*this).fences.light();
  }
  template <class Member>
  [[gnu::always_inline]] void leave(Member& m) noexcept {
    m.seat.give_all();
    m.seat.leave();
  }
};

}  // namespace polder::smr
