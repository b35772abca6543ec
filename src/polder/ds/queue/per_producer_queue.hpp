#pragma once
// per_producer_queue — a queue for each thread that puts, which it writes alone; getters share them.
//
//   paper      none; the idea of a queue for each producer: Desrochers, "moodycamel::ConcurrentQueue", 2014; locally
//              linearizable: Haas et al., CONCUR 2016
//   progress   put wait-free but for the allocator's part, and lock-free the first time a thread puts; get lock-free
//   in malloc  no: put allocates
//
// A lane is a list of segments; its owner fills the last, in order, and publishes how many are filled by one store. A getter
// claims the next filled cell by a CAS and takes what is in it: it is there already. Who finds the first segment all claimed
// and another behind it moves the lane on and retires the segment. Lanes are of thread_slot's numbers: a thread that comes
// after another with the same number goes on with its lane, so what ended threads put is got like the rest.
//
//     cell:  free ── put [publish] ──▶ written ── filled_ passes it ──▶ filled ── claimed passes it: CAS [take] ──▶ taken
//
// Invariant, of a lane: claimed by getters <= filled_, counted over its segments. The elements are those in between. Which
// cell is next, filled_ alone says: so in the child of a fork a lane whose owner was in the middle of a put is as before that.
// A segment that was linked, and maybe is the last one already, waits for its first element; getters go on to it, and retire
// the one before, when filled_ says that it has one. So the owner never has a last segment that is not in the list, nor one
// that is gone.
//
// A getter stays with a lane for a while, but not where another gets in its way, and looks at every lane before it says
// empty. It says so when nothing was put to any lane between two such rounds (filled_ only grows, so their sum is as good as each) and no lane
// was added: then all lanes were empty at once, at the end of the first round.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include <polder/base/check.hpp>
#include <polder/base/config.hpp>
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/numbered.hpp>
#include <polder/ds/parts/own_number.hpp>
#include <polder/ds/parts/thread_slot.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

struct lane_sizes {
  // Of a segment.
  template <class Kept>
  static constexpr std::size_t cells = sizeof(Kept) <= 64 ? 512 : 32;
};

template <class T, class R, class Memory = heap_memory, class Sizes = lane_sizes>
class per_producer_queue : public collection<per_producer_queue<T, R, Memory, Sizes>, T, in_node<T>>,
                           public queue_names<per_producer_queue<T, R, Memory, Sizes>, T> {
  struct lane;

 public:
  static constexpr collection_info info = {
      .name = "per-producer-queue",
      .title = "queue for each producer",
      .kind = shape::queue,
      .order = semantics::locally_linearizable,
      .putters = "wait-free, but for the allocator's part",
      .getters = "lock-free",
      .paper = "Desrochers, 2014 (the idea)",
      .year = 2026,
      .protection = needs::pointer,
  };
  using kept = typename in_node<T>::kept;

  explicit per_producer_queue(typename R::domain& domain) noexcept : domain_(domain) {}
  per_producer_queue(const per_producer_queue&) = delete;
  per_producer_queue& operator=(const per_producer_queue&) = delete;
  ~per_producer_queue() {
    while (remove()) {
    }
    guard g(domain_);
    for (lane* l = lanes_.load(order::relaxed); l != nullptr;) {
      for (segment* s = l->first.load(order::relaxed); s != nullptr;)
        g.unmake(std::exchange(s, s->next.load(order::relaxed)));
      delete std::exchange(l, l->next);
    }
  }

  // Puts for the thread that asked for it, which is the only one that may use it: it has looked up its lane already. It ends
  // before the queue and before the thread; and while the thread's end is yet to be told (thread_slot, fleeting), for its
  // number may be another's soon.
  class putter {
   public:
    bool put(T&& value) { return of_.put_at(std::move(value), &to_); }
    bool put(const T& value)
      requires std::is_copy_constructible_v<T>
    {
      return put(T(value));
    }
    // As the queue's.
    template <class Iterator>
    std::size_t put_bulk(Iterator from, std::size_t n)
      requires in_node<T>::whole
    {
      return n == 0 ? 0 : of_.put_bulk_at(to_, from, n);
    }

   private:
    friend per_producer_queue;
    putter(per_producer_queue& of, lane& to) noexcept : of_(of), to_(to) {}
    per_producer_queue& of_;
    lane& to_;
  };
  // Throws std::bad_alloc.
  putter mine_to_put() {
    lane& l = mine();
    POLDER_CHECK(1, !thread_slot::fleeting());
    return putter(*this, l);
  }

  // Puts the first n from `from` on, moving from each: others see them at once, but for those of a new segment. Throws what
  // put throws, or what making a T of *from does, if it is for the first of them; later it stops there. How many.
  template <class Iterator>
  std::size_t put_bulk(Iterator from, std::size_t n)
    requires in_node<T>::whole
  {
    return n == 0 ? 0 : with_mine([&](lane& l) { return put_bulk_at(l, from, n); });
  }
  // Gets as many as one lane has, at most n, to `to`; how many: none only if all is empty. If an assignment throws, the one
  // that it was for is lost, and the rest of the lane's that was to follow in this call.
  template <class Iterator>
  std::size_t get_bulk(Iterator to, std::size_t n)
    requires in_node<T>::whole
  {
    if (n == 0) return 0;
    guard g(domain_);
    cell* const at = find(g, n);
    if (at == nullptr) return 0;
    for (claimed rest{at, at + n}; rest.first != rest.end; ++to) *to = (rest.first++)->take();
    return n;
  }

 private:
  friend collection<per_producer_queue, T, in_node<T>>;

  static constexpr std::size_t cells = Sizes::template cells<kept>;

  // Memory need not be able to align more than malloc does.
  struct apart {
    std::byte nothing[false_sharing_range];
  };
  using cell = held<kept>;

  // Cells whose elements are the caller's: nobody else will take them.
  struct claimed {
    cell *first, *end;
    ~claimed() {
      while (first != end) (first++)->take();
    }
  };

  struct segment : R::header, Memory {
    explicit segment(std::uint64_t put_before) noexcept : before(put_before) {}
    const std::uint64_t before;  // elements put to the lane before this segment's
    // next — the segment behind, or null. Written once, by the lane's owner. Order: lane-link: it is seen whole.
    atomic<segment*> next;
    apart of_the_owner;
    // claimed — how many cells getters claimed. Written by CAS, read by getters.
    //   order  lane-claim: who sees a cell claimed sees what its getter had put: of a thread that leaves an element behind and
    //            takes another, nobody sees the second alone and says empty
    //   ABA    it only grows
    atomic<std::uint64_t> claimed;
    // seen — how many of the cells are filled, as a getter last saw; may lag. Order: lane-fill, handed on.
    atomic<std::uint64_t> seen;
    apart of_the_getters;
    std::array<cell, cells> line;
  };
  struct lane : Memory {
    explicit lane(segment* made) noexcept : last(made), first(made) {}
    // Of the last segment; as its owner.
    std::size_t used(std::uint64_t filled_so_far) const noexcept { return filled_so_far - last->before; }
    lane* next = nullptr;  // written before the lane is listed
    segment* last;         // owner only
    apart of_the_owner;
    // filled — how many elements have been put, ever. Written by the owner, read by getters.
    //   order  lane-fill: who sees the count sees the elements
    atomic<std::uint64_t> filled;
    apart of_the_filled;
    // first — the segment that getters are at. Written by who finds all its cells claimed and one behind.
    //   ABA    a guard keeps the segment that was read from being used again
    atomic<segment*> first;
  };
  // What a thread's number knows. That thread only.
  struct visitor : Memory {
    lane* own = nullptr;    // where it puts
    lane* at = nullptr;     // where it gets
    std::size_t stays = 0;  // how many more elements it gets there
  };
  static constexpr std::size_t stay = 256;
  using guard = typename R::template guard<1>;

  template <class Iterator>
  std::size_t put_bulk_at(lane& l, Iterator from, std::size_t n) {
    for (std::size_t done = 0; done != n;) {
      const std::uint64_t filled = l.filled.load(order::relaxed);
      const std::size_t used = l.used(filled);
      if (used == cells) {
        try {
          extend(l);
        } catch (...) {
          if (done == 0) throw;
          return done;
        }
        continue;
      }
      const std::size_t some = std::min(n - done, cells - used);
      cell* const to = &l.last->line[used];
      // What is in its cell is inside, also where the next cannot be made, or from goes no further.
      struct showing {
        lane& l;
        const std::uint64_t filled;
        std::size_t i = 0;
        ~showing() { l.filled.store(filled + i, order::release); }  // sync: lane-fill
      };
      try {
        for (showing in{l, filled}; in.i != some; ++from) {
          to[in.i].put(kept(std::move(*from)));
          ++in.i, ++done;
        }
      } catch (...) {
        if (done == 0) throw;
        return done;
      }
    }
    return n;
  }
  bool insert(kept& e) {
    return with_mine([&](lane& l) { return insert(e, &l); });
  }
  bool insert(kept& e, lane* to) {
    lane& l = *to;
    std::uint64_t filled = l.filled.load(order::relaxed);
    std::size_t used = l.used(filled);
    while (used == cells) [[unlikely]] {
      extend(l);
      filled = l.filled.load(order::relaxed);
      used = l.used(filled);
    }
    l.last->line[used].put(std::move(e));
    l.filled.store(filled + 1, order::release);  // sync: lane-fill
    return true;
  }

  std::optional<kept> remove() {
    guard g(domain_);
    std::size_t one = 1;
    cell* const at = find(g, one);
    if (at == nullptr) return std::nullopt;
    return std::optional<kept>(at->take());
  }

  // The calling thread's.
  visitor& me() {
    atomic<visitor*>& place = table_.at(thread_slot::mine());
    visitor* v = place.load(order::relaxed);  // it is the thread's own word
    if (v == nullptr) [[unlikely]]
      place.store(v = new visitor, order::relaxed);
    return *v;
  }
  // A get needs no memory.
  visitor& me_or(visitor& other) noexcept {
    try {
      return me();
    } catch (const std::bad_alloc&) {
      return other;
    }
  }
  // Calls f(lane) with the calling thread's, whose number stays its own meanwhile: where it is fleeting it would go with
  // the first guard that closes.
  template <class F>
  auto with_mine(F&& f) {
    const own_number number;
    if (thread_slot::fleeting()) [[unlikely]] {
      guard g(domain_);
      return f(mine());
    }
    return f(mine());
  }
  lane& mine() {
    visitor& v = me();
    return v.own != nullptr ? *v.own : add(v);
  }

  POLDER_NOINLINE static segment* make(guard& g, std::uint64_t before) { return g.template make<segment>(before); }

  POLDER_NOINLINE lane& add(visitor& v) {
    guard g(domain_);
    if (v.own != nullptr) return *v.own;  // what opening the guard freed has put
    segment* const first = make(g, 0);
    lane* l;
    try {
      l = new lane(first);
    } catch (...) {
      g.unmake(first);
      throw;
    }
    l->next = lanes_.load(order::relaxed);
    while (!lanes_.cas(l->next, l, order::release, order::relaxed)) {  // sync: lane-list
    }
    v.own = l;
    return *l;
  }

  // The last segment is full: one behind it becomes the last. Opening and closing the guard may free what others retired, and who is
  // told of that may put here: what the caller knew of the lane is old then.
  POLDER_NOINLINE void extend(lane& l) {
    segment* const full = l.last;
    guard g(domain_);
    if (l.last != full) return;
    segment* behind = full->next.load(order::relaxed);  // an owner that a fork cut off may have come so far
    if (behind == nullptr) behind = make(g, full->before + cells);
    full->next.store(behind, order::release);  // sync: lane-link
    signal_fence();                            // a fork sees the one or both
    l.last = behind;
  }

  // What a round through the lanes saw.
  struct round {
    std::uint64_t sum = 1;  // of what was ever put, more than 0
    bool empty = true;      // no lane had any
  };

  // Claims up to n cells that stand together: the first, and n says how many. Null: all lanes were empty at once.
  cell* find(guard& g, std::size_t& n) {
    visitor unknown;
    visitor& v = me_or(unknown);
    for (std::uint64_t before = 0;;) {
      lane* const lanes = lanes_.load(order::acquire);  // sync: lane-list
      if (lanes == nullptr) return nullptr;
      if (v.stays == 0) [[unlikely]]
        move_on(v, lanes);
      round r;
      lane* l = v.at;
      do {
        if (cell* const first = claim(g, *l, n, r)) [[likely]] {
          if (l != v.at) v.at = l, v.stays = stay;
          v.stays -= std::min(v.stays, n);
          return first;
        }
        l = l->next != nullptr ? l->next : lanes;
      } while (l != v.at);
      if (r.empty && before == r.sum && lanes == lanes_.load(order::acquire)) return nullptr;  // sync: lane-list
      before = r.empty ? r.sum : 0;
    }
  }

  // To the next lane; from none, to one that others may not have come to.
  static void move_on(visitor& v, lane* lanes) noexcept {
    unsigned steps = v.at == nullptr ? thread_slot::mine() / 2 % 16 : 1;
    for (v.at = v.at == nullptr ? lanes : v.at; steps != 0; --steps)
      v.at = v.at->next != nullptr ? v.at->next : lanes;
    v.stays = stay;
  }

  // Null: the lane is empty, or another getter was faster.
  cell* claim(guard& g, lane& l, std::size_t& n, round& r) {
    for (;;) {
      segment* s = g.protect(0, l.first);
      std::uint64_t at = s->claimed.load(order::acquire);  // sync: lane-claim
      if (at != cells) [[likely]] {
        std::uint64_t seen = s->seen.load(order::acquire);  // sync: lane-fill
        if (at >= seen) {
          const std::uint64_t filled = l.filled.load(order::acquire);  // sync: lane-fill
          seen = std::min<std::uint64_t>(filled - s->before, cells);
          if (at >= seen) {
            r.sum += filled;
            return nullptr;
          }
          s->seen.store(seen, order::release);  // sync: lane-fill
        }
        const std::uint64_t some = std::min<std::uint64_t>(n, seen - at);
        if (!s->claimed.cas(at, at + some, order::release, order::relaxed)) {  // sync: lane-claim
          r.empty = false;
          return nullptr;
        }
        n = some;
        return &s->line[at];
      }
      if (l.filled.load(order::acquire) <= s->before + cells) {  // sync: lane-fill
        r.sum += s->before + cells;
        return nullptr;
      }
      segment* const next = s->next.load(order::acquire);                     // sync: lane-link
      if (l.first.cas(s, next, order::release, order::relaxed)) g.retire(s);  // sync: lane-link
    }
  }

  typename R::domain& domain_;
  numbered<visitor, Memory, thread_slot::most> table_;
  // lanes_ — the lane added last. Written by who adds one, read by getters.
  //   order  lane-list: who sees the lane sees its first segment
  //   ABA    a lane stays
  alignas(false_sharing_range) atomic<lane*> lanes_;
};

}  // namespace polder::ds
