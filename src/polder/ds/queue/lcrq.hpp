#pragma once
// lcrq — a list of rings: elements come in the last one, which is closed when it is full, and leave from the first.
//
//   paper      Morrison and Afek, "Fast concurrent queues for x86 processors", PPoPP 2013, sec. 4.2, fig. 5
//   progress   lock-free: see crq.hpp; a ring that starves its putters is closed
//   in malloc  no: put may allocate
//   deviation  A ring that was empty is looked at again after the next one was seen: in the paper's figure an element that
//              came in between is lost with the ring. Rings go back through the reclaimer; the paper's take them from a pool
//
// States of a ring. An arrow is one atomic step; in brackets, what the thread that made it owes.
//
//           link: last ring's next      close            leave: head [retire]
//     made ───────────────────────▶ open ─────▶ closed ────────────────────────▶ unlinked
//   with an element                             empty, and one behind it
//
// Invariant: from head to the last ring along next; tail is on that way, never behind head. Only the last ring is open. The
// elements are those of all rings, in their order.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/queue/crq.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class lcrq : public collection<lcrq<T, R, Memory>, T, in_word<T>>, public queue_names<lcrq<T, R, Memory>, T> {
 public:
  static constexpr collection_info info = {
      .name = "lcrq",
      .title = "Linked concurrent ring queue",
      .kind = shape::queue,
      .order = semantics::linearizable,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Morrison and Afek, PPoPP 2013",
      .year = 2013,
      .parameters = "ring size",
      .protection = needs::pointer,
  };
  using kept = typename in_word<T>::kept;
  static constexpr std::size_t usual_ring = 1024;

  // Throws std::bad_alloc.
  explicit lcrq(typename R::domain& domain) : lcrq(domain, usual_ring) {}
  // ring_size: how many cells a ring has, a power of two from 2 to 2^32; else throws std::invalid_argument.
  lcrq(typename R::domain& domain, std::size_t ring_size) : domain_(domain), ring_size_(checked(ring_size)) {
    guard g(domain_);
    ring* const first = g.template make<ring>(ring_cells(ring_size_));
    head_.store(first, order::relaxed);
    tail_.store(first, order::relaxed);
  }
  lcrq(const lcrq&) = delete;
  lcrq& operator=(const lcrq&) = delete;
  ~lcrq() {
    while (std::optional<kept> e = remove()) in_word<T>::drop(*e);
    guard g(domain_);
    g.unmake(head_.load(order::relaxed));
  }

 private:
  friend collection<lcrq, T, in_word<T>>;

  using ring_cells = typename crq<Memory>::ring;
  struct ring : R::header, Memory {
    explicit ring(ring_cells&& c) noexcept : tickets(std::move(c)) {}
    std::size_t weight() const noexcept { return sizeof(ring) + tickets.bytes(); }
    crq<Memory> tickets;
    // next — the ring behind, or null. Written once, by the CAS that links it, after this one was closed.
    //   order  ring-link: who sees a ring sees its cells, and that the one before it is closed
    atomic<ring*> next;
  };
  using guard = typename R::template guard<1>;

  static std::size_t checked(std::size_t size) {
    if (size < 2 || size > std::size_t{1} << 32 || !std::has_single_bit(size))
      throw std::invalid_argument("lcrq: a ring's size is a power of two from 2 to 2^32");
    return size;
  }

  bool insert(kept& e) {
    guard g(domain_);
    for (;;) {
      ring* const last = g.protect(0, tail_);
      ring* next = last->next.load(order::acquire);  // sync: ring-link
      if (next == nullptr) {
        if (last->tickets.put(e)) return true;
        ring* const made = g.template make<ring>(ring_cells(ring_size_));
        made->tickets.put(e);
        if (last->next.cas(next, made, order::release, order::acquire)) {  // sync: ring-link
          swing(last, made);
          return true;
        }
        g.unmake(made);
      }
      swing(last, next);
    }
  }

  std::optional<kept> remove() {
    guard g(domain_);
    for (;;) {
      ring* first = g.protect(0, head_);
      if (std::optional<kept> e = first->tickets.take()) return e;
      ring* const next = first->next.load(order::acquire);  // sync: ring-link
      if (next == nullptr) return std::nullopt;
      // Closed now. What was put between the look into it and its closing must not go with it.
      if (std::optional<kept> e = first->tickets.take()) return e;
      // Head must not pass tail: whoever follows tail would read what was freed.
      if (tail_.load(order::relaxed) == first) swing(first, next);
      if (head_.cas(first, next, order::acq_rel, order::relaxed)) g.retire(first);  // sync: ring-leave
    }
  }

  void swing(ring* from, ring* to) noexcept {
    tail_.cas(from, to, order::release, order::relaxed);  // sync: ring-link
  }

  typename R::domain& domain_;
  const std::size_t ring_size_;
  // head_ — the first ring. Written by who found it empty and closed, read by all who get.
  //   order  ring-leave: who sees a ring as head sees that tail is not before it; protect() acquires
  //   ABA    a guard keeps the ring that was read from being used again
  alignas(false_sharing_range) atomic<ring*> head_;
  // tail_ — the last ring or one before it. Written by whoever finds it behind; read by who puts. ABA: as head_.
  alignas(false_sharing_range) atomic<ring*> tail_;
};

}  // namespace polder::ds
