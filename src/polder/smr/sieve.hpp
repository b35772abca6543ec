#pragma once
// sieve — what one member of a domain has retired, where objects become safe one by one: a bag that waits, looked through
// against what others publish, and the safe ones, which wait for the drain.
//
// Touched by whom seat_gate allows, but for the counters, which anybody may glimpse.
//
// Why retire() is O(1), amortised: a look over w objects happens after `least` or more were put there, and no fewer than
// half of those that the look before had to keep (full()). The bound follows: when a look may keep K objects, a member
// never has more than K + max(least, K / 2) of them that wait.
#include <cstddef>
#include <cstdint>

#include <polder/smr/bag.hpp>
#include <polder/smr/limbo.hpp>
#include <polder/smr/presence.hpp>

namespace polder::smr {

// Record has object and of, as retired_object.
template <class Record>
class sieve {
 public:
  using entry = retired_object;
  using record = Record;

  struct parcel {
    bag<record> waiting;
    bag<entry> safe;
    bool empty() const noexcept { return waiting.empty() && safe.empty(); }
  };

  // False: there is no memory for the record.
  [[nodiscard]] bool put(const record& r, std::uint64_t) noexcept {
    if (!waiting_.push(r, waiting_stock_)) return false;
    count.retired(r.weight());
    return true;
  }

  // Is it time for a look?
  bool full(std::size_t least) const noexcept {
    const std::size_t half = kept_ / 2;
    return waiting_.size() >= kept_ + (half > least ? half : least);
  }

  // What keep() lets go is added to the bag, or, where there is no memory for its record, goes through now().
  template <class Keep, class Now>
  void sift(Keep&& keep, bag<entry>& to, Now&& now) {
    sift(waiting_, keep, to, now);
    kept_ = waiting_.size();
  }
  // The oldest n alone: the others have not been looked at.
  template <class Keep, class Now>
  void sift_oldest(std::size_t n, Keep&& keep, bag<entry>& to, Now&& now) {
    std::size_t kept = 0;
    const auto of_the_oldest = [&](record& r) {
      if (n == 0) return true;
      --n;
      const bool stays = keep(r);
      kept += stays;
      return stays;
    };
    sift(waiting_, of_the_oldest, to, now);
    kept_ = kept;
  }
  template <class Keep, class Now>
  void sift(bag<record>& from, Keep&& keep, bag<entry>& to, Now&& now) {
    from.sift(waiting_stock_, keep, [&](const record& r) { let_go(r, to, now); });
  }

  void adopt(sieve& other, std::uint64_t) noexcept {
    waiting_.splice(other.waiting_);
    safe.splice(other.safe);
    other.kept_ = 0;
  }
  std::uint64_t newest() const noexcept { return 0; }

  void surrender(parcel& to) noexcept {
    to.waiting.splice(waiting_);
    to.safe.splice(safe);
    kept_ = 0;
  }
  void take_back(parcel& from) noexcept {
    waiting_.splice(from.waiting);
    safe.splice(from.safe);
  }

  // Nobody is inside any more.
  template <class Now>
  void all_are_safe(Now&& now) {
    sift([](const record&) { return false; }, safe, now);
  }

  // Bytes that wait or are safe.
  std::size_t weight() const noexcept { return safe.bytes() + waiting_.bytes(); }
  std::size_t waiting() const noexcept { return waiting_.size(); }
  bool empty() const noexcept { return waiting_.empty() && safe.empty(); }

  chunk_stock<entry> stock;
  bag<entry> safe;
  weights count;

 private:
  template <class Now>
  void let_go(const record& r, bag<entry>& to, Now&& now) {
    const entry e{r.object, r.of};
    if (!to.push(e, stock)) now(e);
  }

  bag<record> waiting_;
  chunk_stock<record> waiting_stock_;
  std::size_t kept_ = 0;  // by the last look
};

// What is alike in schemes that look at what others publish. Core has
//   look(members, turn) -> bool     reads it all; false: it could not be read, everything must be kept
//   keeps(members, turn, record)    after look(): is it published?
//   least()                         objects from one look to the next, or more
// `members` are gone through anew for each object where there was no memory for a copy of what they publish.
template <class Core, class Record>
class sifted : public obstacles_inside {
 public:
  using bags = sieve<Record>;
  static constexpr unsigned tries = 1;

  template <class Member>
  std::uint64_t tag(const Member&) const noexcept {
    return 0;
  }
  template <class Member>
  bool adoptable(const Member&, std::uint64_t) const noexcept {
    return true;
  }
  template <class Member>
  [[gnu::always_inline]] bool due(const Member&) const noexcept {
    return false;  // nothing is retired outside retire()
  }
  template <class Member>
  [[gnu::always_inline]] bool full(const Member& m, std::size_t) const noexcept {
    return m.bags.full(self().least());
  }
  template <class Member>
  bool over_bound(const Member&) const noexcept {
    return true;
  }
  template <class Members, class Member, class Free>
  void step(const Members&, Member&, Free&&) noexcept {}
  template <class Members, class Member>
  void hurry(const Members&, Member&) noexcept {}
  template <class Member>
  void renew(Member&) noexcept {}
  template <class Members, class Member>
  void while_freeing(const Members&, Member&, unsigned) noexcept {}

  template <class Members, class Member, class Now>
  void ripen(const Members& members, Member& m, bag<retired_object>& to, Now&& now) {
    if (!self().look(members, m.turn)) return;
    m.bags.sift([&](Record& r) { return self().keeps(members, m.turn, r); }, to, now);
  }

  // The same as look, of a member that is inside and holds nothing.
  template <class Members, class Member>
  bool look_holding_nothing(const Members& members, Member& m) noexcept {
    return self().look(members, m.turn);
  }

  void after_fork() noexcept {}
  template <class Members>
  void before_collecting(const Members&) noexcept {}
  template <class Members>
  void outlast(const Members&) noexcept {}
  template <class Members, class Member, class Now>
  bool settle(const Members& members, Member& m, typename bags::parcel& old, bag<retired_object>& to, Now&& now) {
    to.splice(old.safe);
    if (!self().look_holding_nothing(members, m)) return true;
    m.bags.sift(
        old.waiting, [&](Record& r) { return self().keeps(members, m.turn, r); }, to, now);
    return !old.empty();
  }

 private:
  Core& self() noexcept { return *static_cast<Core*>(this); }
  const Core& self() const noexcept { return *static_cast<const Core*>(this); }
};

}  // namespace polder::smr
