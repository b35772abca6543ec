#pragma once
// membership — the members of a domain: a seat for each thread that ever opened a guard in it, found by its number.
//
// Seats are made when they are needed, never moved, used again by later threads of the same number, and unmade with the
// domain. They form a list that only grows, so whoever sweeps needs no lock.
//
// Member has: gate (seat_gate), next (Member*, written here), number (thread_slot::number, written here).
#include <cstdint>
#include <new>

#include <polder/base/bits.hpp>
#include <polder/base/config.hpp>
#include <polder/smr/seat_gate.hpp>
#include <polder/smr/thread_slot.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

// Near: so many numbers have their places here, the others in rows.
template <class Member, thread_slot::number Near = 64>
class membership {
 public:
  membership() = default;
  membership(const membership&) = delete;
  membership& operator=(const membership&) = delete;
  ~membership() {
    for (Member* m = first(); m != nullptr;) {
      Member* const next = m->next;
      delete m;
      m = next;
    }
    for (auto& row : rows_) delete[] row.load(order::relaxed);
  }

  // The calling thread's; null: it has none yet, see join(), or no number.
  [[gnu::always_inline]] Member* find(thread_slot::number n) const noexcept {
    if (n < near) [[likely]]
      return near_[n].load(order::relaxed);
    return far(n);
  }

  // The calling thread's, made if need be. Throws std::bad_alloc. `make(...)` builds a Member.
  template <class... Arguments>
  POLDER_NOINLINE Member& join(thread_slot::number n, Arguments&&... arguments) {
    atomic<Member*>& place = place_of(n);
    for (Member* m = first(); m != nullptr; m = m->next) {
      if (m->number == n && m->gate.try_own()) {
        place.store(m, order::relaxed);
        return *m;
      }
    }
    Member* const made = new Member(arguments...);
    made->number = n;
    const bool own = made->gate.try_own();
    POLDER_CHECK(1, own);
    static_cast<void>(own);
    made->next = first_.load(order::relaxed);
    while (!first_.cas(made->next, made, order::release, order::relaxed)) {  // sync: member-joined
    }
    place.store(made, order::relaxed);
    return *made;
  }

  // The calling thread has no seat any more, or, in a fork's child, a thread that is gone.
  void forget(thread_slot::number n) noexcept {
    if (n < near) near_[n].store(nullptr, order::relaxed);
    else if (far(n) != nullptr) place_of(n).store(nullptr, order::relaxed);
  }

  // All members, those without a thread too: m = m->next.
  Member* first() const noexcept { return first_.load(order::acquire); }  // sync: member-joined

 private:
  static constexpr thread_slot::number near = Near;
  static constexpr unsigned rows = floor_log2(thread_slot::most / near) + 1;  // of 64, 128, …

  static unsigned row_of(thread_slot::number n) noexcept { return unsigned(floor_log2(n / near)); }

  POLDER_NOINLINE Member* far(thread_slot::number n) const noexcept {
    const unsigned row = row_of(n);
    const atomic<Member*>* const places = rows_[row].load(order::acquire);  // sync: row-made
    return places == nullptr ? nullptr : places[n - (near << row)].load(order::relaxed);
  }

  atomic<Member*>& place_of(thread_slot::number n) {
    if (n < near) return near_[n];
    const unsigned row = row_of(n);
    atomic<Member*>* places = rows_[row].load(order::acquire);  // sync: row-made
    if (places == nullptr) {
      atomic<Member*>* const made = new atomic<Member*>[near << row];
      if (rows_[row].cas(places, made, order::acq_rel, order::acquire)) {  // sync: row-made
        places = made;
      } else {
        delete[] made;
      }
    }
    return places[n - (near << row)];
  }

  // near_, and the rows: a thread's seat by its number. Written and read by the thread that has the number; the number
  // itself changes hands with an order of its own (thread_slot).
  atomic<Member*> near_[near];
  atomic<atomic<Member*>*> rows_[rows];
  // first_: the list of members. Written by who joins, by CAS; read by who sweeps; member-joined: the member is whole.
  atomic<Member*> first_;
};

}  // namespace polder::smr
