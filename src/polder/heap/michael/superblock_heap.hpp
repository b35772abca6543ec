#pragma once
// superblock_heap — malloc and free of blocks of one superblock size: figures 4 and 6 of the paper.
//
//   paper      Michael, PLDI 2004, sections 3.2.3 and 3.2.4, figures 4 and 6; the functions bear its names
//   progress   lock-free: every loop repeats only when another thread's CAS succeeded
//   in malloc  yes: allocates nothing, locks nothing. A signal handler may come, and a thread may end, at any instruction
//   deviation  RemoveEmptyDesc as printed can retire a descriptor in its next life; see remove_empty
//   invariant  see anchor.hpp
//
// What a thread that ends inside takes along, at most: the block it was to get, and the superblock whose descriptor it
// held, with the descriptor. Others never wait for either.
//
// Parts, what the figures leave to others:
//   using descriptor                                  descriptor_of<…>
//   using partials                                    partial_queue or partial_stack
//   descriptor& at(number)                            for them
//   static constexpr unsigned max_credits             MAXCREDITS, 1 … 64
//   static constexpr bool keeps_lost_superblock       the alternative answer to a lost race: keep the new one as partial
//   unsigned slots()                                  Partial slots a heap has, 1 … max_partial_slots
//   descriptor* take_descriptor(), retire(d)          DescAlloc, DescRetire
//   bool open(d, cls)                                 memory for a superblock: sets d.sb; false: none to be had
//   void organize(d, cls)                             chains its blocks: the link of block i is i + 1
//   void close(sb, cls)                               gives the superblock back
//   unsigned capacity(cls)                            blocks of a superblock, 2 … 1024
//   atomic<uint64_t>& word_of(d, i)                     the prefix of block i
//   unsigned next(bits)                               the link in it, if the block is free; anything otherwise
//   popped(d, word, bits)                             checks the prefix of a block that was free until now
//   uint64_t freed(d, i, next), live(d)               the prefix of a free, of an allocated block
//   partials& list(cls)                               of the size class
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/heap/michael/descriptor.hpp>

namespace polder::heap::michael {

template <class Parts>
class superblock_heap {
 public:
  using descriptor = typename Parts::descriptor;
  using heap = typename descriptor::heap;
  using active = active_word<descriptor>;
  using anchor = typename descriptor::anchor_type;
  using word = atomic<std::uint64_t>;  // the prefix of a block

  explicit superblock_heap(Parts& parts) noexcept : parts_(parts) {}

  // The prefix of a block, already pointing to the descriptor; null: the system refuses memory.
  word* malloc(heap& h) noexcept {
    for (;;) {
      if (word* const w = malloc_from_active(h)) return w;
      if (word* const w = malloc_from_partial(h)) return w;
      bool refused = false;
      if (word* const w = malloc_from_new_superblock(h, refused)) return w;
      if (refused) return nullptr;
    }
  }

  // Block i of d's superblock. After the CAS in push, d belongs to whoever finds it.
  void free(descriptor& d, unsigned i) noexcept {
    const Freed f = push(d, i);
    if (f.to == fill::empty) {
      parts_.close(f.sb, f.cls);
      remove_empty(*f.last_owner, d, f.cls);
    } else if (f.from == fill::full) {
      put_partial(d);
    }
  }

  // A partial superblock that is not needed in its slot any more goes to the list of its class; nothing is lost if it is
  // empty by now, for who takes it from there looks.
  void put_partial(descriptor& d) noexcept {
    heap& h = *d.owner.load(order::relaxed);
    descriptor* out = &d;
    for (unsigned i = 0; i != parts_.slots() && out; ++i)
      out = h.partial[i].exchange(out, order::acq_rel);  // sync: partial-slot
    if (out) parts_.list(h.cls).put(parts_, *out);
  }

  // A partial superblock, or an empty one that its emptier did not find; it is the caller's. Null: none.
  descriptor* get_partial(heap& h) noexcept {
    for (unsigned i = 0; i != parts_.slots(); ++i)
      if (descriptor* const d = take_slot(h.partial[i])) return d;
    return parts_.list(h.cls).get(parts_);
  }

 protected:
  struct Freed {
    fill from, to;
    heap* last_owner;
    typename descriptor::memory sb;
    unsigned cls;
  };

  // Figure 6, lines 7 to 18.
  Freed push(descriptor& d, unsigned i) noexcept {
    const typename descriptor::memory sb = d.sb.get();
    const unsigned cls = d.cls.get();
    word& w = parts_.word_of(d, i);
    heap* last_owner = nullptr;
    anchor now = d.anchor.load(order::relaxed);
    anchor then;
    do {
      w.store(parts_.freed(d, i, now.avail()), order::relaxed);
      const bool last = now.count() == parts_.capacity(cls) - 1;
      if (last) {
        last_owner = d.owner.load(order::relaxed);
        then = now.with(i, now.count(), fill::empty);
      } else {
        then = now.with(i, now.count() + 1, now.state() == fill::full ? fill::partial : now.state());
      }
      POLDER_CHECK(1, legal(now.state(), then.state()) && (!last || now.state() == fill::partial));
      // The release is lines 14 and 17: the heap was read, the link written, before the CAS is seen.
    } while (!d.anchor.cas(now, then, order::acq_rel, order::relaxed));  // sync: free-link, free-heap, last-free
    return {now.state(), then.state(), last_owner, sb, cls};
  }

  static bool is_empty(const descriptor& d) noexcept {
    return d.anchor.load(order::acquire).state() == fill::empty;  // sync: last-free
  }

  // d was marked empty by the caller. Somebody may have taken it out of its slot in the meantime, found it empty and
  // retired it; it may be in use again, even in the same slot. So who takes it out looks whether it is empty, as with any
  // other descriptor. (The paper retires what it took: model "as printed".)
  void remove_empty(heap& h, descriptor& d, unsigned cls) noexcept {
    for (unsigned i = 0; i != parts_.slots(); ++i) {
      descriptor* expected = &d;
      if (h.partial[i].cas(expected, nullptr, order::acquire, order::relaxed)) {  // sync: partial-slot
        if (is_empty(d)) parts_.retire(d);
        else put_partial(d);
        return;
      }
    }
    parts_.list(cls).remove_empty(parts_, is_empty, [this](descriptor& e) { parts_.retire(e); });
  }

 private:
  descriptor* take_slot(atomic<descriptor*>& slot) noexcept {
    descriptor* d = slot.load(order::relaxed);
    while (d && !slot.cas(d, nullptr, order::acquire, order::relaxed)) {  // sync: partial-slot
    }
    return d;
  }

  word* malloc_from_active(heap& h) noexcept {
    active was = h.active.load(order::relaxed);
    do {
      if (!was) return nullptr;
    } while (!h.active.cas(was, was.reserved(), order::acquire, order::relaxed));  // sync: new-superblock
    // A block of this superblock is reserved, so it cannot become empty. It may become partial or full, or another heap's
    // active one; that is nothing to us.
    descriptor& d = *was.descriptor();
    const bool last_credit = was.credits() == 0;
    anchor now = d.anchor.load(order::acquire);  // sync: free-link
    for (;;) {
      word& w = parts_.word_of(d, now.avail());
      const std::uint64_t bits = w.load(order::relaxed);  // may be stale: then the tag differs
      const unsigned next = parts_.next(bits);
      unsigned more = 0;
      fill state = now.state();
      if (last_credit) {
        POLDER_CHECK(1, now.state() == fill::active);
        more = now.count() < Parts::max_credits ? now.count() : Parts::max_credits;
        if (more == 0) state = fill::full;
      }
      if (d.anchor.cas(now, now.popped(next, now.count() - more, state), order::acquire,
                       order::acquire)) {  // sync: free-link
        parts_.popped(d, w, bits);
        if (more != 0) update_active(h, d, more);
        w.store(parts_.live(d), order::relaxed);
        return &w;
      }
    }
  }

  // The caller alone may give this superblock's credits: it took the last one, or took the descriptor out.
  void update_active(heap& h, descriptor& d, unsigned more) noexcept {
    active expected;
    if (h.active.cas(expected, active(&d, more), order::release, order::relaxed)) return;  // sync: new-superblock
    // Another superblock was installed meanwhile: return the credits.
    anchor now = d.anchor.load(order::relaxed);
    anchor then;
    do {
      POLDER_CHECK(1, legal(now.state(), fill::partial));
      then = now.with(now.avail(), now.count() + more, fill::partial);
    } while (!d.anchor.cas(now, then, order::relaxed, order::relaxed));
    put_partial(d);
  }

  word* malloc_from_partial(heap& h) noexcept {
    while (descriptor* const taken = get_partial(h)) {
      descriptor& d = *taken;
      unsigned more = 0;
      bool reserved = false;
      anchor now = d.anchor.load(order::acquire);  // sync: last-free
      while (now.state() != fill::empty) {
        POLDER_CHECK(1, now.state() == fill::partial && now.count() > 0);
        d.owner.store(&h, order::relaxed);
        more = now.count() - 1 < Parts::max_credits ? now.count() - 1 : Parts::max_credits;
        const anchor then = now.with(now.avail(), now.count() - more - 1, more != 0 ? fill::active : fill::full);
        reserved = d.anchor.cas(now, then, order::acq_rel, order::acquire);  // sync: free-heap, last-free
        if (reserved) break;
      }
      if (!reserved) {
        parts_.retire(d);
        continue;
      }
      now = d.anchor.load(order::acquire);  // sync: free-link
      for (;;) {
        word& w = parts_.word_of(d, now.avail());
        const std::uint64_t bits = w.load(order::relaxed);
        const unsigned next = parts_.next(bits);
        if (d.anchor.cas(now, now.popped(next, now.count(), now.state()), order::acquire,
                         order::acquire)) {  // sync: free-link
          parts_.popped(d, w, bits);
          if (more != 0) update_active(h, d, more);
          w.store(parts_.live(d), order::relaxed);
          return &w;
        }
      }
    }
    return nullptr;
  }

  word* malloc_from_new_superblock(heap& h, bool& refused) noexcept {
    descriptor* const fresh = parts_.take_descriptor();
    if (!fresh) {
      refused = true;
      return nullptr;
    }
    descriptor& d = *fresh;
    const unsigned cls = h.cls;
    if (!parts_.open(d, cls)) {
      parts_.retire(d);
      refused = true;
      return nullptr;
    }
    parts_.organize(d, cls);
    d.cls.set(cls);
    d.owner.store(&h, order::relaxed);
    const unsigned others = parts_.capacity(cls) - 1;
    const unsigned promised = others < Parts::max_credits ? others : Parts::max_credits;
    // The tag goes on counting from the descriptor's earlier lives.
    const anchor first(1, others - promised, fill::active, d.anchor.load(order::relaxed).tag());
    d.anchor.store(first, order::relaxed);
    word& w = parts_.word_of(d, 0);
    w.store(parts_.live(d), order::relaxed);
    active expected;
    // The release is the paper's fence of line 12.
    if (h.active.cas(expected, active(&d, promised), order::release, order::relaxed))
      return &w;  // sync: new-superblock
    // Another thread installed one.
    if constexpr (Parts::keeps_lost_superblock) {
      d.anchor.store(first.with(1, others, fill::partial), order::relaxed);
      put_partial(d);
      return &w;
    } else {
      parts_.close(d.sb.get(), cls);
      parts_.retire(d);
      return nullptr;
    }
  }

  Parts& parts_;
};

}  // namespace polder::heap::michael
