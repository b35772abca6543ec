#pragma once
// slot_seat — the words of one member: whether it is inside, and its slots, as many as its open guards need.
//
// The first guards' slots lie in the seat, further ones in rows that are made when they are needed and stay until the
// domain goes. A guard's slots lie side by side.
//
// Slot has clear(). Rows are made by the owner; whoever scans goes through them without a lock.
//
// Why a scan misses nothing that a guard takes over from an older one (taken_over()). A guard's slots lie behind those of
// every guard that was open when it opened; a scan goes forward; so it comes to the younger guard's later, and if it finds
// the older one's used for something else, it sees what was published before. Only where guards close in another order than
// they were opened, and no row behind those in use is free, does one before them serve again, so that there are no rows
// without end. From then on until all rows are free, what is taken over is counted, and a scan that sees the count change
// goes through the seat once more: lock-free, where it is wait-free else.
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

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
      row* const next = r->next.load(order::relaxed);
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
    if (top_ <= near && first + n == near_ + top_) [[likely]]
      top_ = unsigned(first - near_);
    else give_late(first);
  }

  // No guard is open.
  [[gnu::always_inline]] void give_all() noexcept { top_ = 0; }

  // A slot was given what an older guard's keeps, which that may forget from now on.
  [[gnu::always_inline]] void taken_over() noexcept {
    if (top_ == far_out_of_order) [[unlikely]]
      taken_over_.store(taken_over_.load(order::relaxed) + 1, order::release);  // sync: taken-over
  }

  // ---- anybody -------------------------------------------------------------------------------------------------------

  // May come to a slot more than once.
  template <class F>
  void each(F&& f) const {
    std::uint64_t before, after = taken_over_.load(order::acquire);  // sync: taken-over
    do {
      before = after;
      for (const Slot& s : near_) f(s);
      const row* r = rows_.load(order::acquire);                // sync: row-made
      for (; r != nullptr; r = r->next.load(order::acquire)) {  // sync: row-made
        for (unsigned i = 0; i != r->size; ++i) f(r->slots[i]);
      }
      after = taken_over_.load(order::acquire);  // sync: taken-over
    } while (after != before);
  }

  // The member's own, outside, or anybody's in a fork's child.
  void vacate() noexcept {
    for (Slot& s : near_) s.clear();
    for (row* r = rows_.load(order::relaxed); r != nullptr; r = r->next.load(order::relaxed)) {
      for (unsigned i = 0; i != r->size; ++i) r->slots[i].clear();
      r->taken = false;
    }
    top_ = 0;
    presence::vacate();
  }

 private:
  // A run of slots for one guard at a time.
  struct row {
    row(Slot* s, unsigned n) noexcept : slots(s), size(n) {}
    atomic<row*> next;  // as rows_
    Slot* const slots;
    const unsigned size;
    bool taken = true;  // owner only
  };

  template <class Grown>
  POLDER_NOINLINE Slot* take_far(unsigned n, Grown&& grown) {
    row *behind = nullptr, *before = nullptr;  // those in use: the first that would do
    atomic<row*>* end = &rows_;
    for (row* r; (r = end->load(order::relaxed)) != nullptr; end = &r->next) {
      if (r->taken) {
        if (before == nullptr) before = behind;
        behind = nullptr;
      } else if (behind == nullptr && r->size >= n) {
        behind = r;
      }
    }
    row* const found = behind != nullptr ? behind : before != nullptr ? before : make_row(*end, n, grown);
    if (top_ <= near) near_top_ = std::exchange(top_, far);
    if (found == before) top_ = far_out_of_order;
    found->taken = true;
    return found->slots;
  }

  template <class Grown>
  row* make_row(atomic<row*>& end, unsigned n, Grown&& grown) {
    const unsigned size = n < near ? near : n;
    Slot* const slots = new Slot[size];
    row* const made = new (std::nothrow) row(slots, size);
    if (made == nullptr) {
      delete[] slots;
      throw std::bad_alloc();
    }
    end.store(made, order::release);  // sync: row-made
    grown(size);
    return made;
  }

  // Guards that close in another order than they were opened leave holes: in the seat, until all are closed.
  POLDER_NOINLINE void give_late(Slot* first) noexcept {
    bool some = false;
    for (row* r = rows_.load(order::relaxed); r != nullptr; r = r->next.load(order::relaxed)) {
      if (r->slots == first) r->taken = false;
      some = some || r->taken;
    }
    if (!some && top_ > near) top_ = near_top_;
  }

  // top_: of near_, how many are taken. While rows are in use: one of these, since what lies in near_ comes before them.
  static constexpr unsigned far = near + 1;
  static constexpr unsigned far_out_of_order = near + 2;
  unsigned top_ = 0;       // owner only
  unsigned near_top_ = 0;  // owner only: what top_ was before
  Slot near_[near];
  // rows_: written by the owner; read by whoever scans. row-made: the row is whole. It only grows.
  atomic<row*> rows_;
  // taken_over_: how often a slot was given what another keeps, while slots are out of order. Written by the owner, between
  // the two slots; read by whoever scans. taken-over: whoever sees the older slot forget what it kept sees the count. It
  // only grows.
  atomic<std::uint64_t> taken_over_;
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
