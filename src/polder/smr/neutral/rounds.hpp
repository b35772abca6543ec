#pragma once
// rounds — which rounds of asking have begun and which are over, so that one thread's round serves all.
//
//   paper      Singh, Brown, Mashtizadeh, "NBR: neutralization based reclamation", PPoPP 2021, section 5 (NBR+); IEEE TPDS
//              2024
//   progress   mark, begin, since: wait-free; end: lock-free, repeats only when a later round ended meanwhile
//   in malloc  no
//   invariant  since(m): a round began after mark() gave m and is over; so whoever could reach what the caller had
//              unlinked before mark() has begun anew since, or had published it
//   deviation  one pair of counters in the place of an array of time stamps, one a thread, that each thread copies: so
//              threads may come and go
//
// Why it is enough. mark() read m before round t > m counted itself up; both passed a seq_cst fence, the one before it
// read, the other after it counted: so the first fence comes before the second in the order of all, and with it what was
// unlinked before whatever the round sees and lets be seen.
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

class rounds {
 public:
  using number = std::uint64_t;

  // After something was unlinked. Rounds with a greater number serve it.
  number mark() const noexcept {
    fence(order::seq_cst);  // sync: marked-or-begun: unlinked, then read; a round counts, then looks who reads
    return begun_.load(order::relaxed);
  }

  // A heavy fence follows, which begins with a seq_cst fence (marked-or-begun), then the look at all phases.
  [[nodiscard]] number begin() noexcept { return begun_.fetch_add(1, order::relaxed) + 1; }

  // Every phase that the round saw is over.
  void end(number n) noexcept {
    number seen = over_.load(order::relaxed);
    while (seen < n && !over_.cas(seen, n, order::release, order::relaxed)) {  // sync: round-over
    }
  }

  // Whether a round that began after the mark is over. The slots may be read then.
  [[gnu::always_inline]] bool since(number mark) const noexcept {
    return over_.load(order::acquire) > mark;  // sync: round-over
  }

 private:
  // begun_: how many rounds began. Written by who begins one, by fetch_add; read by who marks; it only grows.
  alignas(false_sharing_range) atomic<number> begun_;
  // over_
  //   written by  who ends a round, by CAS, and only upwards
  //   read by     every thread whose bag is half full
  //   order       round-over: what readers published before the round saw their phases end. A CAS that writes over an
  //               earlier round's number goes on its release sequence
  //   ABA         it only grows
  alignas(false_sharing_range) atomic<number> over_;
};

}  // namespace polder::smr
