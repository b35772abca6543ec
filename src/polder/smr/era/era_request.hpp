#pragma once
// era_request — a thread that reads a word again and again, because the clock moves each time before its era is published,
// asks; who wants to move the clock reads the word for it first.
//
//   paper      Nikolaev, Ravindran, "Universal wait-free memory reclamation", PPoPP 2020 (WFE), section 3
//   progress   protect, help: wait-free, if whoever moves the clock helps everybody before; see below. The rest: a few steps
//   in malloc  no
//   invariant  a request has one answer at most. From the read that made it to the asker's next use of the slot, the era in
//              which it was read is published: by who helps, then by the answer, then by the asker's slot
//   deviation  the paper writes answers and slots of others by compare-and-swap of two words, {era, tag}. Here nobody
//              writes another's slot: an answer is itself one of the things that whoever looks reads, until the asker
//              has taken it over. And an answer's two words stand in a cell that one helper writes for one asker, so the
//              one word that both change holds the request's number and the cell's. The paper's reader says which
//              object the word is in; ours publishes the span of all eras of its slots. Fences are asymmetric
//
// States of one request's word; an arrow is one store (the asker's) or one CAS (a helper's).
//
//            protect, the number grows [take what comes]          help [the cell is the asker's now]
//      over ─────────────────────────────────────▶ asked ─────────────────────────────▶ answered
//        ▲              protect: read it itself      │                                     │
//        └───────────────────────────────────────────┘◀────────────────────────────────────┘
//                                                          protect [its slot has the era]
//
// Why it ends. A read fails because the clock moved. A thread that moves it after the request was made has helped first,
// and then the request is answered. So it fails only by threads that had passed it already, once by each; so does a helper's.
//
// Why nobody looks too early here and too late there. What protects an object moves on: from a helper's slot to the
// answer, and from there to the asker's slot, each published before the one before is cleared. Who looks reads them in
// this order. What protects the object in which the word lies goes from the asker's slots to a helper's span, so spans are
// read last, after a fence. The helper publishes the span, passes a fence, and then sees the request still open; or it does
// not read. If it is open, and the asker's slot was found cleared, then the request was closed before the second fence: it
// is the later one, so the span is seen.
//
// So an era that came by an answer is published without a gap since its helper's fence, and the asker, whose slot has it, may
// use it for what it reads next: that needs no fence of its own.
//
// Why a late helper does no harm. It answers a request by its number, by CAS. The number has 44 bits: one a microsecond
// comes round after 200 days, and must hit the one at which a helper stopped.
#include <cstdint>

#include <polder/smr/era/era_clock.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

// What a thread publishes while it helps.
struct era_aid {
  era_slot seen;        // when what it read was there
  era_interval source;  // the eras of the object in which it reads
  void clear() noexcept {
    seen.clear();
    source.leave();
  }
};

class era_request {
 public:
  using word = std::uint64_t;
  using reader = word (*)(const void* source);

  static constexpr unsigned cell_bits = 20;
  static constexpr unsigned cells = (1u << cell_bits) - 2;

  // seen, lived: what was read, and when
  //   written by  one helper, while a request of one asker is open
  //   read by     the asker, when its request is answered from here; who looks
  //   order       answered, in the request's word. lived by itself too: who reads it of a later request finds that the
  //               earlier one's asker had published
  //   ABA         the helper writes it again for a later request, so the earlier one is over
  struct answer {
    atomic<word> seen;
    atomic<era> lived;
  };

  // ---- the thread whose request it is -------------------------------------------------------------------------------

  // Reads the source; what it points to is protected by the slot. from, to: the eras of all slots of the thread, one of
  // which protects the object in which the source lies; no_era: none does. at(n): the answer of cell n.
  template <class Fences, class At>
  word protect(era_slot& slot, const void* source, reader read, era from, era to, const era_clock& clock,
               const Fences& fences, At&& at) noexcept {
    source_.store(source, order::release);  // sync: request-over
    read_.store(read, order::release);      // sync: request-over
    from_.store(from, order::release);      // sync: request-over
    to_.store(to, order::release);          // sync: request-over
    const word mine = (state_.load(order::relaxed) >> cell_bits) + 1;
    state_.store(mine << cell_bits | asked, order::release);  // sync: asked
    for (;;) {
      const word seen = read(source);
      const era now = clock.now();
      if (now == slot.mine_or_none()) {
        over();
        return seen;
      }
      const word state = state_.load(order::acquire);  // sync: answered
      if (is_answer(state)) {
        const answer& a = at(cell(state));
        const word given = a.seen.load(order::relaxed);
        slot.publish(a.lived.load(order::relaxed));
        over();
        return given;
      }
      slot.publish(now);
      fences.light();
    }
  }

  // The thread's own, or anybody's in a fork's child.
  void over() noexcept {
    const word number = state_.load(order::relaxed) >> cell_bits;
    state_.store(number << cell_bits, order::release);  // sync: request-over, era-left
  }

  // ---- who wants to move the clock ----------------------------------------------------------------------------------

  bool open() const noexcept { return is_asked(state_.load(order::relaxed)); }

  // Returns when the request that was open is not. `cell` is this helper's for this asker, and has the number n.
  template <class Fences>
  void help(era_aid& aid, answer& mine, unsigned n, const era_clock& clock, const Fences& fences) noexcept {
    const word request = state_.load(order::acquire);  // sync: asked
    if (!is_asked(request)) return;
    const void* const source = source_.load(order::acquire);  // sync: request-over
    const reader read = read_.load(order::acquire);           // sync: request-over
    const era from = from_.load(order::acquire);              // sync: request-over
    const era to = to_.load(order::acquire);                  // sync: request-over
    aid.source.cover(from, to);
    fence(order::seq_cst);  // sync: source-covered, era-left: store of the span, load of the request; see above
    // Still open: so all four were this request's, and the object in which the source lies stays.
    for (bool still = state_.load(order::relaxed) == request; still;) {
      const era now = clock.now();
      aid.seen.publish(now);
      fences.light();
      const word seen = read(source);
      if (clock.now() == now) {
        mine.seen.store(seen, order::relaxed);
        mine.lived.store(now, order::relaxed);  // the fence released what `asked` told of the asker's slots
        word expected = request;
        state_.cas(expected, request - asked + first_answer + n, order::release, order::relaxed);  // sync: answered
        break;
      }
      still = state_.load(order::relaxed) == request;
    }
    aid.clear();
  }

  // ---- who looks ----------------------------------------------------------------------------------------------------

  // The era of an answer that was not taken over yet, or none.
  template <class At>
  era lived(At&& at) const noexcept {
    const word state = state_.load(order::acquire);                                 // sync: answered, era-left
    return is_answer(state) ? at(cell(state)).lived.load(order::acquire) : no_era;  // sync: era-left
  }

 private:
  static constexpr word asked = 1, first_answer = 2;  // and 0: over
  static constexpr word mask = (word{1} << cell_bits) - 1;
  static bool is_asked(word state) noexcept { return (state & mask) == asked; }
  static bool is_answer(word state) noexcept { return (state & mask) >= first_answer; }
  static unsigned cell(word state) noexcept { return unsigned((state & mask) - first_answer); }

  // state_: number << cell_bits | over, asked, or which cell has the answer
  //   written by  the asker; from asked to answered by helpers, by CAS
  //   read by     both, and who looks
  //   order       asked: what the asker knows of the object in which it reads. answered: the cell, and the object that
  //               was found. era-left: the slot has taken over. request-over: a helper that found a word of a later
  //               request in what follows finds that its own is over
  //   ABA         see above
  atomic<word> state_;
  // source_, read_, from_, to_: written by the asker, between requests; read by helpers.
  atomic<const void*> source_;
  atomic<reader> read_;
  atomic<era> from_, to_;
};

// All that is published, in the order in which protection moves on. After a heavy fence. A member's seat has aid, request,
// answers.at(n), and each(f) over its slots.
template <class Members, class F>
void each_era_published(const Members& members, F&& f) {
  const auto one = [&](era e) {
    if (e != no_era) f(e, e);
  };
  for (const auto* m = members.first(); m != nullptr; m = m->next) one(m->seat.aid.seen.read());
  for (const auto* m = members.first(); m != nullptr; m = m->next)
    one(m->seat.request.lived([m](unsigned n) -> const era_request::answer& { return m->seat.answers.at(n); }));
  for (const auto* m = members.first(); m != nullptr; m = m->next)
    m->seat.each([&](const era_slot& s) { one(s.read()); });
  fence(order::seq_cst);  // sync: source-covered: load of the slots, load of the spans; see above
  for (const auto* m = members.first(); m != nullptr; m = m->next) {
    if (const era from = m->seat.aid.source.from(); from != no_era) f(from, m->seat.aid.source.to());
  }
}

}  // namespace polder::smr
