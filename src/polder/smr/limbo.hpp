#pragma once
// limbo — what one member of a domain has retired: bags that wait, objects that are safe, and their weight.
//
// A bag is known by its tag, which the scheme gives: the announcement or the turn under which it was filled. It is safe
// at tag + Lag. The safe ones wait for the drain. Touched by whom seat_gate allows, but for the counters, which anybody
// may glimpse.
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/smr/bag.hpp>
#include <polder/smr/reclaimer.hpp>

namespace polder::smr {

// Written by one thread at a time, read by all: so each word is stored whole, without a read-modify-write.
class weights {
 public:
  void retired(std::size_t bytes) noexcept { add(retired_, 1), add(retired_bytes_, bytes); }
  void reclaimed(std::size_t bytes) noexcept { add(reclaimed_, 1), add(reclaimed_bytes_, bytes); }

  void add_to(garbage& all) const noexcept {
    all.reclaimed += reclaimed_.load(order::relaxed), all.reclaimed_bytes += reclaimed_bytes_.load(order::relaxed);
    all.retired += retired_.load(order::relaxed), all.retired_bytes += retired_bytes_.load(order::relaxed);
  }

 private:
  using word = atomic<std::uint64_t>;
  static void add(word& w, std::uint64_t n) noexcept { w.store(w.load(order::relaxed) + n, order::relaxed); }
  // Of one thread alone none makes sense: a thread may reclaim what another retired.
  word retired_, reclaimed_, retired_bytes_, reclaimed_bytes_;
};

template <std::uint64_t Lag>
class limbo {
 public:
  using entry = retired_object;
  using record = retired_object;
  using parcel = bag<entry>;

  // False: there is no memory for the entry.
  [[nodiscard]] bool put(const entry& e, std::uint64_t tag) noexcept {
    shelf& s = shelves_[tag % shelves];
    POLDER_CHECK(1, s.waiting.empty() || s.tag == tag);
    s.tag = tag;
    if (!s.waiting.push(e, stock)) return false;
    newest_ = tag;
    count.retired(e.weight());
    return true;
  }

  // What is old enough at `now` goes to the bag.
  void ripen(std::uint64_t now, bag<entry>& to) noexcept {
    for (shelf& s : shelves_) {
      if (s.tag + Lag <= now) to.splice(s.waiting);
    }
  }

  // Takes over everything of another limbo, to be safe no earlier than what is retired at `tag`.
  void adopt(limbo& other, std::uint64_t tag) noexcept {
    shelf& mine = shelves_[tag % shelves];
    POLDER_CHECK(1, mine.waiting.empty() || mine.tag == tag);
    mine.tag = tag;
    newest_ = tag;
    for (shelf& s : other.shelves_) mine.waiting.splice(s.waiting);
    safe.splice(other.safe);
  }

  // Everything that is here, for a caller who will see to it that it is safe.
  void surrender(parcel& to) noexcept {
    for (shelf& s : shelves_) to.splice(s.waiting);
    to.splice(safe);
  }
  // All of it is safe now.
  void take_back(parcel& from) noexcept { safe.splice(from); }

  // Nobody is inside any more.
  template <class Now>
  void all_are_safe(Now&&) noexcept {
    for (shelf& s : shelves_) safe.splice(s.waiting);
  }

  // The tag of the youngest object here; 0: there never was one.
  std::uint64_t newest() const noexcept { return newest_; }

  std::size_t waiting() const noexcept {
    std::size_t n = 0;
    for (const shelf& s : shelves_) n += s.waiting.size();
    return n;
  }
  // Bytes that wait or are safe.
  std::size_t weight() const noexcept {
    std::size_t n = safe.bytes();
    for (const shelf& s : shelves_) n += s.waiting.bytes();
    return n;
  }
  bool empty() const noexcept { return waiting() == 0 && safe.empty(); }

  chunk_stock<entry> stock;
  bag<entry> safe;
  weights count;

 private:
  static constexpr std::uint64_t shelves = Lag + 1;
  struct shelf {
    std::uint64_t tag = 0;
    bag<entry> waiting;
  };
  shelf shelves_[shelves];
  std::uint64_t newest_ = 0;
};

// What is alike in schemes that free a whole bag when a grace period is over. Core has ripe(m): the tag minus Lag of what
// is safe, and synchronize(members).
template <class Core, std::uint64_t Lag>
class grace_periods {
 public:
  using bags = limbo<Lag>;
  static constexpr unsigned tries = Lag;

  template <class Member>
  bool full(const Member&, std::size_t) const noexcept {
    return false;
  }
  template <class Members, class Member, class Now>
  void ripen(const Members&, Member& m, bag<retired_object>& to, Now&&) noexcept {
    m.bags.ripen(static_cast<Core*>(this)->ripe(m), to);
  }
  void after_fork() noexcept {}
  template <class Members>
  void before_collecting(const Members&) noexcept {}
  template <class Members>
  void outlast(const Members& members) noexcept {
    static_cast<Core*>(this)->synchronize(members);
  }
  template <class Members, class Member, class Now>
  bool settle(const Members&, Member&, bag<retired_object>& old, bag<retired_object>& to, Now&&) noexcept {
    to.splice(old);
    return false;
  }
};

}  // namespace polder::smr
