#pragma once
// token_ring — one token that goes round the members of a domain, past those that are outside.
//
//   paper      Kim (thesis), 3.4, after Tam, "QDo", 2006: who begins an operation and holds the token passes it on
//   progress   pass, skip: wait-free, one CAS; a lost CAS means that somebody else moved the token
//   in malloc  no
//   invariant  from a member's passing the token on to its next arrival there every other member was outside, or began an
//              operation
//   deviation  the thesis's token waits for a thread that does nothing; ours is moved past a member that is seen
//              outside. Threads come at any time: the ring is as long as the number of members that ever joined
//
// A member is known by its place, 0, 1, …; the token's word is round << 24 | place of the holder.
//
// Why a member that joins late is not missed. It counts itself in, passes a full fence, and then reads; the token, going
// from the last place to the first, passes a full fence and then reads the count. If the count misses the member, the
// member's reads come after all that was unlinked before the token was passed: it holds nothing that this round frees.
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/base/config.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

class token_ring {
 public:
  using place = std::uint32_t;
  static constexpr unsigned place_bits = 24;

  class seat {
   public:
    bool inside() const noexcept { return (entered_.load(order::acquire) & 1) != 0; }  // sync: guard-left
    // How often the member entered, and whether it is inside.
    std::uint64_t word() const noexcept { return entered_.load(order::acquire); }  // sync: guard-left
    void vacate() noexcept {
      const std::uint64_t even = (entered_.load(order::relaxed) | 1) + 1;
      entered_.store(even, order::release);  // sync: guard-left
    }

    template <class Fences>
    [[gnu::always_inline]] void enter(const Fences& fences) noexcept {
      entered_.store(entered_.load(order::relaxed) + 1, order::release);  // sync: guard-left
      fences.light();
    }
    [[gnu::always_inline]] void leave() noexcept {
      entered_.store(entered_.load(order::relaxed) + 1, order::release);  // sync: guard-left
    }

   private:
    // entered_: even outside, odd inside; each entering and leaving adds one.
    //   written by  the member's thread
    //   read by     who wants to move the token past it, who waits for its guard
    //   order       guard-left: what was read inside was read before
    //   ABA         it only grows
    atomic<std::uint64_t> entered_;
  };

  // A new member's place. Its reads come after.
  place join() noexcept {
    const place mine = place(members_.fetch_add(1, order::relaxed));
    fence(order::seq_cst);  // sync: ring-grows: see above
    return mine;
  }

  // How many places were given.
  place joined() const noexcept { return place(members_.load(order::relaxed)); }

  struct sight {
    std::uint64_t word;
    place holder() const noexcept { return place(word & ((std::uint64_t{1} << place_bits) - 1)); }
    std::uint64_t round() const noexcept { return word >> place_bits; }
  };
  [[gnu::always_inline]] sight look() const noexcept { return {word_.load(order::acquire)}; }  // sync: token-passed

  // Moves the token on while outside(holder) says that its holder is outside, up to place `mine`. Returns where it is.
  template <class Fences, class Outside>
  sight past_who_is_outside(place mine, const Fences& fences, Outside&& outside) noexcept {
    sight seen = look();
    bool fenced = false;
    while (seen.holder() != mine && outside(seen.holder())) {
      if (!fenced) {
        if (!fences.heavy()) break;
        fenced = true;  // and once more: outside since?
        continue;
      }
      // While this thread itself moves it, nobody passes it on. Once another did, what that unlinked may be younger than
      // the fence, and who seems to be outside may be reading it. So the next step is from where this one led, not from
      // where the token is seen then: if another passed it on from there, the step is lost.
      const sight next = after(seen);
      fenced = move(seen, next);
      seen = fenced ? next : look();
    }
    return seen;
  }

  // Moves the token on from `seen`'s holder: by the holder, inside and holding nothing. False: it had gone already, and
  // this arrival does not count. Whoever moved it may go round with a fence that is older than what the holder unlinked.
  bool pass(sight seen) noexcept { return move(seen, after(seen)); }

 private:
  // Where it is once `seen`'s holder has passed it.
  sight after(sight seen) noexcept {
    if (seen.holder() + 1 < count_at_end(seen.holder())) return {seen.word + 1};
    return {(seen.round() + 1) << place_bits};
  }
  [[gnu::always_inline]] bool move(sight from, sight to) noexcept {
    std::uint64_t expected = from.word;
    return word_.cas(expected, to.word, order::acq_rel, order::relaxed);  // sync: token-passed
  }

  // How many members there are, as far as who holds this place must know.
  std::uint64_t count_at_end(place at) noexcept {
    if (at + 1 < members_.load(order::relaxed)) return ~std::uint64_t{0};
    fence(order::seq_cst);  // sync: ring-grows: see above
    return members_.load(order::relaxed);
  }

  // word_
  //   written by  the holder, or who moves the token past it, by CAS
  //   read by     every member, in each operation
  //   order       token-passed: what its earlier holders did. All writes are RMWs: one release sequence
  //   ABA         the round grows; 2^40 of them
  alignas(false_sharing_range) atomic<std::uint64_t> word_{0};
  // members_: how many places there are. Written by who joins; it only grows. What orders it is the fences beside it.
  alignas(false_sharing_range) atomic<std::uint64_t> members_{0};
};

}  // namespace polder::smr
