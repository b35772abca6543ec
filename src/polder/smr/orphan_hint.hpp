#pragma once
// orphan_hint — whether there may be seats that their threads have left, with bags in them: read by each thread that steps,
// so that it need not look at all seats.
//
//   progress   wait-free
//   in malloc  no
//   invariant  a seat that was left since the last look began, or that it did not see left, has the hint set
//
// Why no look misses a seat and takes the hint away. All writes are exchanges, so they stand in one order, and each that
// comes after some left() goes on its release sequence. A look that comes later in that order finds that seat free; one
// that comes earlier leaves the hint as left() sets it. A store in the place of the exchange could wait in the processor
// while the seats are read, and then write over the hint.
#include <polder/sync/atomic.hpp>

namespace polder::smr {

class orphan_hint {
 public:
  [[gnu::always_inline]] bool some() const noexcept { return some_.load(order::relaxed); }

  // The caller has given up its seat, or has found bags that it cannot take.
  void left() noexcept { some_.exchange(true, order::release); }  // sync: seat-left

  // The caller looks at all seats from now on.
  void look() noexcept { some_.exchange(false, order::acquire); }  // sync: seat-left

 private:
  // some_
  //   written by  who leaves, who looks, by exchange
  //   read by     who steps: late, it looks later
  //   order       seat-left: the seat is free
  //   ABA         the same hint is the same statement
  atomic<bool> some_;
};

}  // namespace polder::smr
