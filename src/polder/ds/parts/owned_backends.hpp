#pragma once
// owned_backends — a backend for each thread that puts: made at its first put, passed over once it has left and its backend
// is empty, taken up by the next thread that gets its number.
//
//   paper      Haas et al., "Local linearizability for concurrent container-type data structures", CONCUR 2016, sec. 6, the
//              dynamic variant
//   progress   lock-free, but for the first put of a thread, which is the allocator's
//   in malloc  no
//   deviation  no lock around the list of backends: a table by the thread's number, in rows that are made when needed. A
//              backend that is passed over keeps its memory for the next owner
//
// States of a place. An arrow is one step; in brackets, who makes it.
//
//                  a put [the new thread of this number]
//        unlisted ───────────────────────────────────────▶ owned ◀──┐ a put [the new thread of this number]
//            ▲                                               │      │
//            │ found empty [whoever gets]                    ▼      │
//            └───────────────────────────────────────────── left ───┘
//                                        the end [the thread that owned it, or in a fork's child the one that is left]
//
// Invariant: only the thread that owns a backend puts into it. So one that was left and is found empty stays empty until it
// is owned again, and then its state is another: versions only grow, and a step is for the version that was seen.
//
// For parts/exact_scan.hpp the versions count as changes of which backends there are: two passes with the same sum of versions
// looked into the same backends, and the numbers of these only grow.
#include <cstdint>
#include <memory>
#include <optional>

#include <polder/base/bits.hpp>
#include <polder/base/config.hpp>
#include <polder/ds/parts/exact_scan.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

// Backend: parts/backends.hpp. Near: how many numbers the first row has, a power of two.
template <class Backend, std::uint32_t Near = 64>
class owned_backends {
 public:
  using number = std::uint32_t;  // of a thread, from 1
  using kept = typename Backend::kept;

 private:
  // Row 0: numbers below Near; row r: Near · 2^(r - 1) numbers from that one on.
  static constexpr unsigned rows = 11;
  static constexpr unsigned row_of(number n) noexcept { return n < Near ? 0 : floor_log2(n / Near) + 1; }
  static constexpr number first_of(unsigned row) noexcept { return row == 0 ? 0 : Near << (row - 1); }
  static constexpr number size_of(unsigned row) noexcept { return row == 0 ? Near : Near << (row - 1); }

 public:
  static constexpr number most = first_of(rows) - 1;

  owned_backends() = default;
  owned_backends(const owned_backends&) = delete;
  owned_backends& operator=(const owned_backends&) = delete;
  ~owned_backends() {
    for (unsigned r = 0; r != rows; ++r) {
      place* const row = rows_[r].load(order::relaxed);
      if (row == nullptr) continue;
      for (number i = 0; i != size_of(r); ++i) delete row[i].backend.load(order::relaxed);
      delete[] row;
    }
  }

  // That of the thread with this number, which calls, and is its owner from now on. If there is none, fresh becomes it; null:
  // there is no fresh one either. Throws std::bad_alloc.
  Backend* own(number n, std::unique_ptr<Backend>& fresh) {
    place& p = made(n);
    const state now = p.now.load(order::relaxed);
    if (now.is() == owned) [[likely]]
      return p.backend.load(order::relaxed);
    if (p.backend.load(order::relaxed) == nullptr) {
      if (fresh == nullptr) return nullptr;
      p.backend.store(fresh.release(), order::relaxed);
    }
    take_up(n, p, now);
    return p.backend.load(order::relaxed);
  }

  // The thread with this number puts nothing any more; the next one with it knows that.
  void leave(number n) noexcept {
    place* const p = find(n);
    if (p == nullptr) return;
    const state now = p->now.load(order::relaxed);
    if (now.is() == owned) p->now.store(now.then(left), order::release);  // sync: backend-owned
  }
  // When there is no other thread.
  void leave_all_but(number survivor) noexcept {
    for (number i = 1; i <= highest_.load(order::relaxed); ++i) {
      if (i != survivor) leave(i);
    }
  }

  // From that of the calling thread, if it has one; else from any, beginning with draw(n) of n.
  template <class Scan, class Draw>
  std::optional<kept> remove(number self, Draw&& draw) {
    if (place* const p = find(self)) {
      if (Backend* const b = p->backend.load(order::relaxed)) {
        std::uint64_t ignored;
        if (std::optional<kept> e = b->remove(ignored)) return e;
      }
    }
    return Scan::over([&](tally& seen) -> std::optional<kept> {
      const number highest = highest_.load(order::relaxed);
      if (highest == 0) return std::nullopt;
      const number first = number(draw(highest)) + 1;
      number i = first;
      do {
        if (place* const p = find(i)) {
          if (std::optional<kept> e = look(*p, seen)) return e;
        }
        i = i == highest ? 1 : i + 1;
      } while (i != first);
      return std::nullopt;
    });
  }

  // How many backends are looked into: for tests, when no thread is inside.
  unsigned listed() const noexcept {
    unsigned n = 0;
    for (number i = 1; i <= highest_.load(order::relaxed); ++i) {
      place* const p = find(i);
      n += p != nullptr && p->now.load(order::relaxed).is() != unlisted;
    }
    return n;
  }

 private:
  enum phase : std::uint64_t { unlisted, owned, left };
  class state {  // a version, and two bits of phase
   public:
    constexpr state() noexcept = default;
    phase is() const noexcept { return phase(bits_ & 3); }
    std::uint64_t version() const noexcept { return bits_ >> 2; }
    state then(phase next) const noexcept { return state((version() + 1) << 2 | next); }
    friend bool operator==(state, state) noexcept = default;

   private:
    explicit constexpr state(std::uint64_t bits) noexcept : bits_(bits) {}
    std::uint64_t bits_ = 0;
  };

  struct place {
    // now — the state. Written by the steps of the drawing, each by a CAS but the owner's end; read by who puts, gets or ends.
    //   order  backend-owned: who sees a backend listed sees it whole
    //          backend-unlisted: who finds it unlisted knows of all gets that emptied it
    //   ABA    versions
    atomic<state> now;
    // Written by the thread that has the number, once, before it is first listed; read by all.
    atomic<Backend*> backend{nullptr};
  };

  POLDER_NOINLINE void take_up(number n, place& p, state now) noexcept {
    while (!p.now.cas(now, now.then(owned), order::release, order::relaxed)) {  // sync: backend-owned
    }
    number highest = highest_.load(order::relaxed);
    while (highest < n && !highest_.cas(highest, n, order::relaxed, order::relaxed)) {
    }
  }

  std::optional<kept> look(place& p, tally& seen) {
    state now = p.now.load(order::acquire);  // sync: backend-owned, backend-unlisted
    if (now.is() != unlisted) {
      std::uint64_t puts = 0;
      if (std::optional<kept> e = p.backend.load(order::relaxed)->remove(puts)) return e;
      // If the step fails, its owner's successor was faster, or another who gets: the next pass sees another version.
      state as_seen = now;
      if (now.is() == left &&
          p.now.cas(as_seen, now.then(unlisted), order::release, order::relaxed)) {  // sync: backend-unlisted
        now = now.then(unlisted);
      } else {
        seen.numbers += puts;
      }
    }
    seen.backends += now.version();
    return std::nullopt;
  }

  place* find(number n) const noexcept {
    const unsigned r = row_of(n);
    place* const row = rows_[r].load(order::acquire);  // sync: owned-row
    return row == nullptr ? nullptr : &row[n - first_of(r)];
  }
  place& made(number n) {
    if (place* const p = find(n)) [[likely]]
      return *p;
    const unsigned r = row_of(n);
    place* row = nullptr;
    std::unique_ptr<place[]> fresh(new place[size_of(r)]);
    if (rows_[r].cas(row, fresh.get(), order::release, order::acquire)) row = fresh.release();  // sync: owned-row
    return row[n - first_of(r)];
  }

  // The highest number that ever owned one. Raised by new owners after their place is owned; read by who gets. In any order:
  // who knows of a put knows that its thread found or made the number so high.
  alignas(false_sharing_range) atomic<number> highest_{0};
  // rows_: made by who needs one, by CAS from null; owned-row: its places are whole.
  atomic<place*> rows_[rows];
};

}  // namespace polder::ds
