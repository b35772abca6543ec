#pragma once
// helped_index_ring — index_ring.hpp whose threads help one that got nowhere, so that every put and get ends.
//
//   paper      Nikolaev and Ravindran, "wCQ: a fast wait-free queue with bounded memory usage", SPAA 2022, sec. 3
//   progress   wait-free: a caller that got nowhere `patience` times announces what it wants; every thread looks at another
//              one's announcement each `helping_delay` of its calls, and stays with it until it is over. So after so many
//              calls of the others all that are at work draw tickets for it alone. admit() allocates, once for each row of
//              records, and everything after it is free of that
//   in malloc  no: admit() allocates
//   deviation  1. A drawn ticket is tied to its request by the request's own name beside the counter, not by a record of the
//                 drawing thread's ("phase 2"): see draw(). So no record is used again while others may still read it.
//              2. The words of requests carry the request's number. In the paper a helper that is late could take a later
//                 request's ticket for the one it read the index of.
//              3. Who entered an index for a request is written beside it, so a getter need not look for that in all records.
//              4. A get counts a miss when it leaves a ticket, not when it draws one, and the owner of a put sets the
//                 threshold itself before it returns: in the paper a helper may have entered, and not set it yet.
//              5. The paper allows as many threads as indices: see the invariant of index_ring.hpp
//              6. No index means "taken": a request is over before its entry is taken, so nobody looks at it after that
//
// An entry is two words. The first is index_ring's with one bit more, the second a note, or while the entry is unsettled,
// the name of the request that the index was entered for.
//
//     63                 b+2   b+1      b    b-1      0        63                          0
//    ┌──────────────────────┬─────────┬──────┬──────────┐      ┌────────────────────────────┐
//    │        cycle         │ settled │ safe │  index   │      │ note: a cycle   or a name  │
//    └──────────────────────┴─────────┴──────┴──────────┘      └────────────────────────────┘
//
// States of an entry under ticket t, besides those that index_ring.hpp draws. An arrow is one compare-and-swap.
//
//     none, older, note older ──── a helper or the owner, of a put ────▶ index, cycle of t, unsettled, name
//         │                                                                  │ anybody: the request is over
//         │                                                                  ▼ [settle]
//         │ it cannot be used: a helper or the owner                    index, cycle of t, settled, no note
//         ▼
//     as it was, note: cycle of t    [so nobody enters for ticket t any more, and all agree to draw another]
//
// States of a request, in its word `at`: a ticket, two marks for its end, one for a claim.
//
//             announce       claim c: another thread may draw it first        drawn: head or tail goes from c to c + 1
//     over ───────────▶ 0 ──────────────▶ c, claimed ──▶ c', claimed … ──────────────────────────▶ c [try the entry]
//       ▲                                    ▲                                                          │
//       │                                    └───────────────── miss: claim another ────────────────────┤
//       └──────────────────────── the index is in, or there; or empty: `nothing` ──────────────────────┘
//
// Invariants. (1) A ticket is one caller's on the fast path, or one request's. (2) While a counter bears a name, the request of
// that name is at the ticket it was drawn for, claimed or not: nobody claims another before the name is gone, since who
// claims has read the counter without a name, after it read that the ticket was drawn. (3) All who try an entry for a request
// come to the same end: what makes one of them leave a ticket is written in the entry (cycle, note or unsafe) and stays.
// (4) An index leaves an entry after the request it was entered for is over.
//
// Orders. As in index_ring.hpp: tickets, entries and the threshold are seq_cst, and so are the names beside the tickets, which
// are halves of the same words. The words of requests only hand on what was seen there: acquire and release.
#include <cstddef>
#include <cstdint>
#include <optional>

#include <polder/base/bits.hpp>
#include <polder/base/config.hpp>
#include <polder/ds/parts/cells.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/sync/atomic.hpp>
#include <polder/sync/double_word.hpp>

namespace polder::ds {

// Where a test may stop a thread.
enum class helped_step : std::uint8_t { announced, helps, claimed, drawn, undecided, entered, over };
struct unobserved_steps {
  static void at(helped_step) noexcept {}
};

// Requests<C>: at(number) makes the cell of a thread's number, or throws; find(number) is null if there is none.
template <class Memory, template <class> class Requests, class Observer = unobserved_steps>
class helped_index_ring {
 public:
  using index = std::uint64_t;
  using number = std::uint32_t;  // of a thread, below 2^16

  enum class at_first { empty, full };

  struct options {
    unsigned patience;         // tries before a request
    unsigned helping_delay;    // calls between two looks at another thread, at least 1
    std::size_t most_threads;  // that are inside at the same time
  };

  // For the indices below n, a power of two. Throws std::bad_alloc.
  helped_index_ring(std::size_t n, at_first how, options o)
      : bits_(floor_log2(2 * n)),
        most_misses_(std::int64_t(2 * n - 1 + o.most_threads)),
        options_(o),
        entries_(2 * n) {
    const std::size_t inside = how == at_first::full ? n : 0;
    for (std::size_t i = 0; i != inside; ++i) {
      std::uint64_t was = 0;
      entries_[i].cas_first(was, entry(1, settled | safe, i), order::relaxed, order::relaxed);
    }
    for (std::size_t i = inside; i != 2 * n; ++i) {
      std::uint64_t was = 0;
      entries_[i].cas_first(was, entry(0, settled | safe, none()), order::relaxed, order::relaxed);
    }
    head_.add_first(2 * n, order::relaxed);
    tail_.add_first(2 * n + inside, order::relaxed);
    misses_left_.store(inside != 0 ? most_misses_ : -1, order::relaxed);
  }

  index none() const noexcept { return low_ones(bits_); }

  // Before the first call of a thread with this number. Throws std::bad_alloc.
  void admit(number self) {
    requests_.at(self);
    number most = highest_.load(order::relaxed);
    while (most < self && !highest_.cas(most, self, order::relaxed, order::relaxed)) {
    }
  }

  // Of an index that is not inside.
  void put(index i, number self) noexcept {
    request& mine = *requests_.find(self);
    help_another(mine);
    for (unsigned tries = 0; tries != options_.patience; ++tries) {
      if (try_put(i)) return allow_misses();
    }
    put_for(announce(mine, self, i, put_request), i);
    Observer::at(helped_step::over);
    allow_misses();
  }

  // The same while nobody else is at work, for whom no request is needed.
  void put(index i) noexcept {
    while (!try_put(i)) {
    }
    allow_misses();
  }
  index get() noexcept {
    if (is_empty()) return none();
    for (;;) {
      if (const std::optional<index> i = try_get()) return *i;
    }
  }

  // none(): it is empty.
  index get(number self) noexcept {
    if (is_empty()) return none();
    request& mine = *requests_.find(self);
    help_another(mine);
    for (unsigned tries = 0; tries != options_.patience; ++tries) {
      if (const std::optional<index> i = try_get()) return *i;
    }
    get_for(announce(mine, self, none(), get_request));
    Observer::at(helped_step::over);
    const ticket t = mine.at.first(order::acquire);  // sync: ring-request
    if ((t & nothing) != 0) return none();
    return take(t & ~marks, entry_of(t & ~marks).first(order::seq_cst));  // sync: ring-order
  }

 private:
  using word = std::uint64_t;
  using ticket = std::uint64_t;
  using name = std::uint64_t;  // of a request: which one of its thread, and the thread's number; 0 is nobody's

  // What a thread wants that got nowhere. Its cell goes on with the next thread of its number.
  struct request {
    unsigned until_look = 0;  // owner only
    number looked_at = 0;     // owner only
    // i — what to put. Written by the owner between requests, read by who helps.
    //   order  ring-asked: who reads a later request's sees that the one it came for is over
    atomic<index> i;
    // at — the ticket, or the claim, and marks; beside it which request of this thread it is, odd if it is a get. Written
    //   by the owner, once it is over, and by who helps until then.
    //   order  ring-request: who sees a claim sees the counter it was read from, who sees it drawn sees it raised
    //   ABA    within a request tickets only grow, and requests have numbers
    alignas(16) double_word at{double_value{ended, 0}};
    std::byte apart[false_sharing_range];
  };

  // One that is to be carried out, by its owner or who helps.
  struct call {
    request& of;
    std::uint64_t which;
    number who;
    name named() const noexcept { return which << 16 | who; }
  };

  static constexpr std::uint64_t put_request = 0, get_request = 1;
  static constexpr name nobody = 0;
  static constexpr ticket claimed = ticket{1} << 63, ended = ticket{1} << 62, nothing = ticket{1} << 61,
                          marks = claimed | ended | nothing;

  // Marks of an entry, above its index.
  static constexpr word safe = 1, settled = 2;

  word cycle(ticket t) const noexcept { return t >> bits_; }
  word cycle_of(word e) const noexcept { return e >> (bits_ + 2); }
  index index_of(word e) const noexcept { return e & none(); }
  word marks_of(word e) const noexcept { return e >> bits_ & (safe | settled); }
  bool is_safe(word e) const noexcept { return (marks_of(e) & safe) != 0; }
  bool is_settled(word e) const noexcept { return (marks_of(e) & settled) != 0; }
  word entry(word cycle, word m, index i) const noexcept { return cycle << (bits_ + 2) | m << bits_ | i; }
  double_word& entry_of(ticket t) const noexcept { return entries_[t & none()]; }

  // ---- the fast path -------------------------------------------------------------------------------------------------

  bool try_put(index i) noexcept {
    const ticket t = tail_.add_first(1, order::seq_cst);  // sync: ring-order
    double_word& e = entry_of(t);
    word now = e.first(order::seq_cst);  // sync: ring-order
    while (cycle_of(now) < cycle(t) && is_free(now, t)) {
      const word then = entry(cycle(t), settled | safe, i);
      if (e.cas_first(now, then, order::seq_cst, order::seq_cst)) return true;  // sync: ring-order
    }
    return false;
  }

  // none(): it is empty; nothing: a ticket in vain.
  std::optional<index> try_get() noexcept {
    const ticket t = head_.add_first(1, order::seq_cst);  // sync: ring-order
    const word there = reach(t);
    if (index_of(there) != none()) return take(t, there);
    const bool nothing_ahead = passes_tail(t);
    const bool no_more_misses = misses_left_.fetch_sub(1, order::seq_cst) <= 0;  // sync: ring-order
    if (nothing_ahead || no_more_misses) return none();
    return std::nullopt;
  }

  // Of an older cycle.
  bool is_free(word e, ticket t) const noexcept {
    return index_of(e) == none() && (is_safe(e) || head_.first(order::seq_cst) <= t);  // sync: ring-order
  }

  void allow_misses() noexcept {
    if (misses_left_.load(order::seq_cst) != most_misses_)  // sync: ring-order
      misses_left_.store(most_misses_, order::seq_cst);     // sync: ring-order
  }

  // Whether it was at a moment within this call: when head was read, tail was not beyond it.
  bool is_empty() const noexcept {
    const std::int64_t left = misses_left_.load(order::seq_cst);  // sync: ring-order
    if (left == most_misses_) return false;
    if (left < 0) return true;
    const ticket head = head_.first(order::seq_cst);  // sync: ring-order
    return tail_.first(order::seq_cst) <= head;       // sync: ring-order
  }

  // The entry with the index that the put of the same ticket left; or one without an index, and then that put leaves nothing
  // there any more. It fails when the entry changes, which it does before t's cycle only by those who have an older ticket.
  word reach(ticket t) noexcept {
    double_word& e = entry_of(t);
    word now = e.first(order::seq_cst);  // sync: ring-order
    for (;;) {
      if (cycle_of(now) == cycle(t)) return now;
      if (cycle_of(now) > cycle(t)) return none();
      const bool is_none = index_of(now) == none();
      const word then = is_none ? entry(cycle(t), marks_of(now), none())
                                : entry(cycle_of(now), marks_of(now) & ~safe, index_of(now));
      if (e.cas_first(now, then, order::seq_cst, order::seq_cst)) return none();  // sync: ring-order
    }
  }

  // Only for whose ticket t is: the index stays until then.
  index take(ticket t, word there) noexcept {
    double_word& e = entry_of(t);
    if (!is_settled(there)) settle(e, t);
    e.or_first(none(), order::seq_cst);  // sync: ring-order
    return index_of(there);
  }

  // Whether a get of ticket t has come so far that nothing is ahead.
  bool passes_tail(ticket t) noexcept {
    ticket tail = tail_.first(order::seq_cst);  // sync: ring-order
    if (tail > t + 1) return false;
    // Puts need not follow one by one. Nothing depends on it, so it is tried so often only.
    for (unsigned tries = 0; tries != 4 && tail <= t; ++tries) {
      if (tail_.cas_first(tail, t + 1, order::seq_cst, order::seq_cst)) break;  // sync: ring-order
    }
    return true;
  }

  // ---- requests ------------------------------------------------------------------------------------------------------

  call announce(request& mine, number self, index i, std::uint64_t kind) noexcept {
    // It is over, so nobody else writes it.
    double_value last{mine.at.first(order::relaxed), mine.at.second(order::relaxed)};
    const std::uint64_t which = ((last.second >> 1) + 1) << 1 | kind;
    mine.i.store(i, order::release);                                            // sync: ring-asked
    mine.at.cas(last, double_value{0, which}, order::release, order::relaxed);  // sync: ring-request
    Observer::at(helped_step::announced);
    return {mine, which, self};
  }

  void help_another(request& mine) noexcept {
    if (mine.until_look != 0) {
      --mine.until_look;
      return;
    }
    mine.until_look = options_.helping_delay - 1;
    mine.looked_at = mine.looked_at < highest_.load(order::relaxed) ? mine.looked_at + 1 : 1;
    request* const other = requests_.find(mine.looked_at);
    if (other == nullptr) return;
    const std::uint64_t which = other->at.second(order::acquire);  // sync: ring-request
    if ((other->at.first(order::acquire) & ended) != 0) return;    // sync: ring-request
    const index i = other->i.load(order::acquire);                 // sync: ring-asked
    const call c{*other, which, mine.looked_at};
    Observer::at(helped_step::helps);
    if ((which & get_request) != 0) get_for(c);
    else put_for(c, i);
  }

  // Returns when it is over. If i is a later request's, it is at once.
  void put_for(const call& c, index i) noexcept {
    for (ticket t = 0; draw(c, tail_, t);) {
      if (enter(c, t, i)) return;
    }
  }

  void get_for(const call& c) noexcept {
    for (ticket t = 0; draw(c, head_, t);) {
      if (index_of(reach(t)) != none()) {
        end(c, t, ended);
        return;
      }
      if (passes_tail(t) || misses_left_.load(order::seq_cst) < 0) {  // sync: ring-order
        if (!end(c, t, ended | nothing)) continue;
        misses_left_.fetch_sub(1, order::seq_cst);  // sync: ring-order
        return;
      }
    }
  }

  bool end(const call& c, ticket t, ticket how) noexcept {
    double_value expected{t, c.which};
    // sync: ring-request
    return c.of.at.cas(expected, double_value{t | how, c.which}, order::acq_rel, order::relaxed);
  }

  // Another ticket for the request, after t, which was none (0) or in vain. False: it is over.
  //
  // A claim precedes the drawing, so that all who help draw the same one. Who draws leaves the request's name beside the
  // counter, in the same step; whoever finds a name there takes the mark off the claim, then the name off the counter. Only
  // then can anybody draw again for a request.
  bool draw(const call& c, double_word& counter, ticket& t) noexcept {
    for (;;) {
      ticket next = without_name(counter);
      double_value seen{t, c.which};
      // sync: ring-request
      if (c.of.at.cas(seen, double_value{next | claimed, c.which}, order::acq_rel, order::acquire)) {
        // Nobody else leaves ticket t.
        if ((t & claimed) == 0 && t != 0 && &counter == &head_) {
          misses_left_.fetch_sub(1, order::seq_cst);  // sync: ring-order
        }
        t = next | claimed;
        Observer::at(helped_step::claimed);
      } else {
        if (seen.second != c.which || (seen.first & ended) != 0) return false;
        t = seen.first;
        if ((t & claimed) == 0) return true;
        next = t & ~claimed;
      }
      double_value now{next, nobody};
      if (counter.cas(now, double_value{next + 1, c.named()}, order::seq_cst,
                      order::relaxed)) {  // sync: ring-order
        Observer::at(helped_step::drawn);
        unclaim(c.of, double_value{t, c.which});
        now = {next + 1, c.named()};
        counter.cas(now, double_value{next + 1, nobody}, order::seq_cst, order::relaxed);  // sync: ring-order
        t = next;
        return true;
      }
    }
  }

  // The counter, when it bears no name. Its count is read before that: so a name that came in between is not missed.
  ticket without_name(double_word& counter) noexcept {
    for (;;) {
      double_value now{counter.first(order::seq_cst), 0};  // sync: ring-order
      now.second = counter.second(order::seq_cst);         // sync: ring-order
      if (now.second == nobody) return now.first;
      request& of = *requests_.find(number(now.second & 0xffff));
      const std::uint64_t which = of.at.second(order::acquire);  // sync: ring-request
      const ticket t = of.at.first(order::acquire);              // sync: ring-request
      if (which == now.second >> 16 && (t & claimed) != 0) {
        // If the name has gone, this may be a later claim, of a ticket that is not drawn.
        if (counter.second(order::seq_cst) != now.second) continue;  // sync: ring-order
        unclaim(of, double_value{t, which});
      }
      counter.cas(now, double_value{now.first, nobody}, order::seq_cst, order::relaxed);  // sync: ring-order
    }
  }
  void unclaim(request& of, double_value seen) noexcept {
    // sync: ring-request
    of.at.cas(seen, double_value{seen.first & ~claimed, seen.second}, order::acq_rel, order::relaxed);
  }

  // Whether the index is in by ticket t. If not, nobody enters it there any more.
  bool enter(const call& c, ticket t, index i) noexcept {
    double_word& e = entry_of(t);
    for (;;) {
      double_value now{e.first(order::seq_cst), 0};  // sync: ring-order
      if (cycle_of(now.first) > cycle(t)) return false;
      if (cycle_of(now.first) == cycle(t)) {
        if (index_of(now.first) == none()) return false;  // it was never in; or it was, and the request is over
        settle(e, t);
        return true;
      }
      if (!is_settled(now.first)) {
        settle(e, (cycle_of(now.first) << bits_) + (t & none()));
        continue;
      }
      now.second = e.second(order::seq_cst);               // sync: ring-order
      if (e.first(order::seq_cst) != now.first) continue;  // sync: ring-order: so that is a note
      if (now.second >= cycle(t)) return false;
      const bool usable = is_free(now.first, t);
      Observer::at(helped_step::undecided);
      const double_value then =
          usable ? double_value{entry(cycle(t), safe, i), c.named()} : double_value{now.first, cycle(t)};
      if (!e.cas(now, then, order::seq_cst, order::relaxed)) continue;  // sync: ring-order
      if (!usable) return false;
      Observer::at(helped_step::entered);
    }
  }

  // The request that the index of ticket t was entered for is over; then so does the entry say.
  void settle(double_word& e, ticket t) noexcept {
    for (;;) {
      double_value now{e.first(order::seq_cst), 0};  // sync: ring-order
      if (cycle_of(now.first) != cycle(t) || is_settled(now.first)) return;
      now.second = e.second(order::seq_cst);               // sync: ring-order
      if (e.first(order::seq_cst) != now.first) continue;  // sync: ring-order: so that is a name
      end(call{*requests_.find(number(now.second & 0xffff)), now.second >> 16, 0}, t, ended);
      const double_value then{now.first | settled << bits_, 0};
      if (e.cas(now, then, order::seq_cst, order::relaxed)) return;  // sync: ring-order
    }
  }

  const unsigned bits_;
  const std::int64_t most_misses_;
  const options options_;
  Requests<request> requests_;
  // highest_ — the highest number of a thread that was admitted. It only grows, and late is harmless: so is help.
  atomic<number> highest_;
  // head_, tail_ — the next ticket of a get, of a put, and the name of the request for which the last one was drawn, until
  //   that one has it. Written and read by all. ABA: tickets only grow, and a name comes with a ticket.
  alignas(false_sharing_range) double_word head_;
  alignas(false_sharing_range) double_word tail_;
  // misses_left_ — how many gets may fail before all say empty; negative: they say so without a ticket. Set by each put that
  //   finds it otherwise, counted down by each get that fails.
  alignas(false_sharing_range) atomic<std::int64_t> misses_left_;
  // entries_ — see above. Written by puts and gets whose ticket leads there, and by who helps. ABA: a cycle does not come
  //   again in 2^60 tickets' time, and in a cycle an entry only goes forward.
  alignas(false_sharing_range) cells<double_word, Memory> entries_;
};

}  // namespace polder::ds
