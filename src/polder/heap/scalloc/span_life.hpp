#pragma once
// span_life — how spans pass between a LAB, its sets of reusable spans, and the pool: listing 3 without its races.
//
//   paper      Aigner et al. 2015, sec. 3.4 and 5, listings 2 and 3
//   progress   frees that move no span are lock-free, and wait-free but for the CAS of the remote list; a step of a span
//              that is not hot takes the lock of one LAB
//   in malloc  yes. Not in a signal handler that interrupted its thread here
//   invariant  a span is in one place: expected in the arena, free in the pool or in one thread's hands, hot in one LAB's
//              hot_span, reusable in the set of its owner, floating in none
//   deviation  of listing 3, as printed:
//     · lines 115–116 and 119–122 mark a span and move it in two steps, so that a put may come after the try_remove that
//       should undo it, and the span is in the pool and in a set. Here marking and moving are one critical section of the
//       LAB whose set it is (test/model/scalloc_listing3.cpp shows both);
//     · a free that finds the epoch changed since line 110 does nothing. The owner may have marked the span floating in
//       between, and if that was the last free nobody comes again. Here a free looks at the epoch after it has freed,
//       and looks again when its step fails; who marks a span floating looks as a free would;
//     · line 113 adopts by a CAS on the owner while line 116 uses the owner read before. Here the owner changes under the
//       lock of the LAB it names, and who works under a lock has read the owner under it;
//     · a span that is floating or reusable has no fewer free blocks later, so the number of free blocks may be read
//       before the epoch is swapped: that the epoch is the same says that the number still holds.
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/heap/scalloc/span.hpp>
#include <polder/sync/atomic.hpp>
#include <polder/sync/owned_lock.hpp>

namespace polder::heap::scalloc {

// The reusable spans of one class of one LAB: a deque, so that any of them goes in a step. Under the LAB's lock.
class reusable_set {
 public:
  void put(span& s, std::uint32_t generation) noexcept {
    s.listed.set(generation);
    s.previous.set(nullptr);
    s.next.set(first_.get());
    (first_.get() ? first_.get()->previous : last_).set(&s);
    first_.set(&s);
  }
  void remove(span& s) noexcept {
    (s.previous.get() ? s.previous.get()->next : first_).set(s.next.get());
    (s.next.get() ? s.next.get()->previous : last_).set(s.previous.get());
    s.listed.set(0);
  }
  // The one that has been here longest: it had most time to become empty.
  span* oldest() const noexcept { return last_.get(); }
  void forget() noexcept {
    first_.set(nullptr);
    last_.set(nullptr);
  }

 private:
  plain<span*> first_, last_;
};

template <unsigned Classes>
struct lab {
  // ---- owner only
  span* hot[Classes + 1];
  std::uint16_t lives;  // how often it has been opened
  // ---- everybody
  // owner — itself and its life; TERMINATED while no thread works here.
  //   written by  init and terminate, under the lock
  //   read by     every remote free of a block of a span that names this LAB; relaxed: adopt looks again under the lock
  //   order       by the lock
  //   ABA         see span::owner
  alignas(cache_line) atomic<owner_word> owner;
  owned_lock lock;
  plain<std::uint32_t> generation;  // of the sets: what was listed in an earlier one is listed no more
  reusable_set sets[Classes + 1];
};

// When an empty span goes to the pool: in the free that empties it, or in a later allocation (the ablation
// scalloc-reclaim-in-allocation).
enum class reclaim : std::uint8_t { in_free, in_allocation };

// Locks: static void lock(owned_lock&), unlock(owned_lock&), for the calling thread.
// Give: void give(span&) takes a span that has become free and is the caller's alone. Link: void link(block, next).
template <unsigned Classes, class Locks, reclaim When = reclaim::in_free>
class span_life {
 public:
  using lab_type = lab<Classes>;

  // ---- by the thread of a LAB

  static void init(lab_type& l) noexcept {
    Locks::lock(l.lock);
    ++l.lives;
    next_generation(l);
    l.owner.store(owner_word(&l, l.lives), order::relaxed);
    Locks::unlock(l.lock);
  }

  template <class Give>
  static void terminate(lab_type& l, Give&& give) noexcept {
    for (unsigned c = 1; c <= Classes; ++c)
      if (l.hot[c]) cool(l, c, give);
    Locks::lock(l.lock);
    span* emptied = nullptr;
    for (reusable_set& set : l.sets)
      while (span* const s = set.oldest()) {
        set.remove(*s);
        if (full(*s)) hold(*s, emptied);
        else step(*s, span_state::floating);
      }
    l.owner.store(owner_word{}, order::relaxed);
    Locks::unlock(l.lock);
    give_all(emptied, give);
  }

  // A span of the pool or the arena, whose lists, class and capacity the caller has written, becomes l's hot one.
  static void open(lab_type& l, unsigned c, span& s) noexcept {
    s.owner.store(l.owner.load(order::relaxed), order::relaxed);
    epoch_word e = s.epoch.load(order::relaxed);
    const bool opened = s.epoch.cas(e, e.next(span_state::hot), order::relaxed, order::relaxed);
    POLDER_CHECK(1, opened);
    static_cast<void>(opened);
    l.hot[c] = &s;
  }

  // The hot span has no block in its local list. True: it has now, all that were freed remotely, as they were worth it.
  static bool refill(span& s) noexcept {
    if (s.remote.load(order::relaxed).count() <= s.threshold.load(order::relaxed)) return false;
    s.local.store(s.remote.exchange(list_word{}, order::acquire), order::relaxed);  // sync: remote-free
    return true;
  }

  // The hot span is hot no longer. It may go at once.
  template <class Give>
  static void cool(lab_type& l, unsigned c, Give&& give) noexcept {
    span& s = *l.hot[c];
    l.hot[c] = nullptr;
    epoch_word e = s.epoch.load(order::relaxed);
    const bool cooled =
        s.epoch.cas(e, e.next(span_state::floating), order::seq_cst, order::relaxed);  // sync: last-free
    POLDER_CHECK(1, cooled);
    static_cast<void>(cooled);
    settle(s, give);
  }

  // Makes a reusable span the hot one. False: there is none.
  template <class Give>
  static bool reuse(lab_type& l, unsigned c, Give&& give) noexcept {
    span* emptied = nullptr;
    Locks::lock(l.lock);
    if constexpr (When == reclaim::in_allocation) {
      for (span* s = l.sets[c].oldest(); s;) {
        span* const younger = s->previous.get();
        if (full(*s)) {
          l.sets[c].remove(*s);
          hold(*s, emptied);
        }
        s = younger;
      }
    }
    span* const s = l.sets[c].oldest();
    if (s) {
      l.sets[c].remove(*s);
      step(*s, span_state::hot);
      l.hot[c] = s;
    }
    Locks::unlock(l.lock);
    give_all(emptied, give);
    return s != nullptr;
  }

  // Frees a block of a hot span, for its owner.
  template <class Block, class Link>
  static void push_hot(span& s, Block* b, Link&& link) noexcept {
    const list_word before = s.local.load(order::relaxed);
    link(b, before.first<Block>());
    s.local.store(before.pushed(b), order::relaxed);
  }
  // Of one that is not hot, but for settle(). True: there is nothing to settle.
  template <class Block, class Link>
  static bool push_cool(span& s, Block* b, Link&& link) noexcept {
    const list_word before = s.local.load(order::relaxed);
    link(b, before.first<Block>());
    s.local.store(before.pushed(b), order::seq_cst);  // sync: last-free
    return look(s).rests;
  }

  // Frees a block of a span whose owner is l.
  template <class Block, class Link, class Give>
  static void free_local(lab_type& l, unsigned c, span& s, Block* b, Link&& link, Give&& give) noexcept {
    if (l.hot[c] == &s) return push_hot(s, b, link);
    if (!push_cool(s, b, link)) settle(s, give);
  }

  // Frees a block of a span whose owner was `o`, not l, when the caller looked. An orphan becomes l's.
  template <class Block, class Link, class Give>
  static void free_remote(lab_type& l, owner_word o, span& s, Block* b, Link&& link, Give&& give) noexcept {
    list_word before = s.remote.load(order::relaxed);
    do {
      link(b, before.first<Block>());  // `before` is not read through
    } while (
        !s.remote.cas(before, before.pushed(b), order::seq_cst, order::relaxed));  // sync: remote-free, last-free
    // From here on the span may be anybody's, in any life.
    if (o.lab<lab_type>().owner.load(order::relaxed) != o) adopt(l, o, s);
    settle(s, give);
  }

  // ---- in a forked child, for a LAB whose thread is gone and was inside: its spans are orphans in whatever state they
  // were. `torn`: its lock was held, so its sets are forgotten.
  static void bury(lab_type& l, bool torn) noexcept {
    for (span*& s : l.hot) s = nullptr;
    if (torn) {
      for (reusable_set& set : l.sets) set.forget();
      next_generation(l);
    }
    l.owner.store(owner_word{}, order::relaxed);
  }
  // For a LAB that goes on, though its sets are torn.
  static void forget_sets(lab_type& l) noexcept {
    for (reusable_set& set : l.sets) set.forget();
    next_generation(l);
  }

  // All blocks of s are free. Holds on as long as it is floating or reusable.
  static bool full(const span& s) noexcept { return free_blocks(s) == s.capacity.load(order::relaxed); }
  static std::uint32_t free_blocks(const span& s) noexcept {
    return s.local.load(order::seq_cst).count() + s.remote.load(order::seq_cst).count();  // sync: last-free
  }

  // After a free, or after a span was marked floating: brings it where it belongs. Whoever comes last does it.
  template <class Give>
  static void settle(span& s, Give&& give) noexcept {
    for (;;) {
      auto [e, all, many, rests] = look(s);
      if (rests) return;
      const owner_word o = s.owner.load(order::acquire);  // sync: span-owner
      if (o.terminated()) return;  // marked free since we freed: it could not have been before
      lab_type& l = o.lab<lab_type>();
      Locks::lock(l.lock);
      if (s.owner.load(order::relaxed) != o) {  // adopted meanwhile, or marked free
        Locks::unlock(l.lock);
        continue;
      }
      const bool orphan = l.owner.load(order::relaxed) != o;
      const bool later = When == reclaim::in_allocation && (many || e.state() == span_state::reusable);
      const bool frees = all && (orphan || !later);
      if (!frees && (orphan || !many)) return Locks::unlock(l.lock);
      const bool moved =
          s.epoch.cas(e, e.next(frees ? span_state::free : span_state::reusable), order::relaxed, order::relaxed);
      if (moved && frees) release(l, s);
      if (moved && !frees) l.sets[s.cls.load(order::relaxed)].put(s, l.generation.get());
      Locks::unlock(l.lock);
      if (!moved) continue;
      if (frees) give(s);
      return;
    }
  }

 private:
  struct sight {
    epoch_word epoch;
    bool all = false;   // blocks are free
    bool many = false;  // blocks are free, of a floating span: it is to be reusable
    bool rests = true;  // where it is
  };
  static sight look(const span& s) noexcept {
    const epoch_word e = s.epoch.load(order::seq_cst);  // sync: last-free
    if (e.state() != span_state::floating && e.state() != span_state::reusable) return {.epoch = e};
    const std::uint32_t free = free_blocks(s);
    const bool all = free == s.capacity.load(order::relaxed);
    const bool many = e.state() == span_state::floating && free > s.threshold.load(order::relaxed);
    return {.epoch = e, .all = all, .many = many, .rests = !all && !many};
  }

  // Under the lock of the LAB that s.owner names: marked free, it leaves the set and its owner.
  static void release(lab_type& l, span& s) noexcept {
    unlist(l, s);
    s.owner.store(owner_word{}, order::relaxed);  // nobody adopts it from now on
  }

  static void adopt(lab_type& l, owner_word o, span& s) noexcept {
    lab_type& former = o.lab<lab_type>();
    Locks::lock(former.lock);
    if (s.owner.load(order::relaxed) == o && former.owner.load(order::relaxed) != o) {
      unlist(former, s);
      // An orphan floats, but for the child of a fork that came while its thread was inside.
      if (s.epoch.load(order::relaxed).state() != span_state::floating) step(s, span_state::floating);
      s.owner.store(l.owner.load(order::relaxed), order::release);  // sync: span-owner
    }
    Locks::unlock(former.lock);
  }

  // Under the lock, or by the one thread there is: nobody else can make a step.
  static void step(span& s, span_state to) noexcept {
    epoch_word e = s.epoch.load(order::relaxed);
    const bool made = s.epoch.cas(e, e.next(to), order::relaxed, order::relaxed);
    POLDER_CHECK(1, made);
    static_cast<void>(made);
  }

  // Under the lock: an emptied span that was in a set is set aside, for when the lock is open again.
  static void hold(span& s, span*& chain) noexcept {
    step(s, span_state::free);
    s.owner.store(owner_word{}, order::relaxed);
    s.next.set(chain);
    chain = &s;
  }
  template <class Give>
  static void give_all(span* chain, Give&& give) noexcept {
    while (chain) {
      span& s = *chain;
      chain = s.next.get();
      give(s);
    }
  }

  // Under the lock of l, which s leaves: LABs count their generations alike, so of a set that was forgotten nothing may go with it.
  static void unlist(lab_type& l, span& s) noexcept {
    if (s.listed.get() == l.generation.get()) l.sets[s.cls.load(order::relaxed)].remove(s);
    else s.listed.set(0);
  }
  static void next_generation(lab_type& l) noexcept {
    const std::uint32_t next = l.generation.get() + 1;
    l.generation.set(next != 0 ? next : 1);
  }
};

}  // namespace polder::heap::scalloc
