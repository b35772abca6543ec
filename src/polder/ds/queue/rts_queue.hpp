#pragma once
// rts_queue — relaxed time-stamped queue: a dequeue draws a ticket and takes at once what is not later than that.
//
//   paper      Haas, "Fast concurrent data structures through timestamping", thesis, Salzburg 2015
//   progress   enqueue: wait-free, but for memory; dequeue: lock-free
//   in malloc  no: enqueue allocates
//   deviation  a ticket is drawn only if there is a stamp for it, by CAS: so the empty answer is there, and exact by
//              number, and tickets do not run ahead of the stamps, after which any element would be old enough
//
//     enqueue: linked ──▶ counted: stamp drawn ──▶ stamped          dequeue: counted: ticket drawn ──▶ taken
//
// Invariant: tickets drawn <= stamps drawn <= elements linked; each ticket takes one element. So who has a ticket
// finds one sooner or later, and if it finds none in a scan another was taken or linked meanwhile. The empty answer:
// as many tickets as stamps were drawn, at that moment. By number, not by element: who has the ticket for what is
// inside may take what is put after the answer, and a later dequeue what was inside all along.
//
// Quiescent consistency. Let z be put before a moment without operations, e behind it, and e taken before z. If m
// tickets are drawn at the next such moment and z is still inside, then z's stamp is not among the first m: else one
// of these tickets took a later element than m, so not at once, though its scan saw z or what is before z in its
// buffer. And then e, which is later still, was not taken at once either, though its scan saw the same: a
// contradiction.
#include <cstdint>
#include <optional>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/by_thread.hpp>
#include <polder/ds/parts/clock.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/ts_queue_buffer.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class rts_queue : public collection<rts_queue<T, R, Memory>, T, in_node<T>>,
                  public queue_names<rts_queue<T, R, Memory>, T> {
 public:
  static constexpr collection_info info = {
      .name = "rts-queue",
      .title = "relaxed TS queue",
      .kind = shape::queue,
      .order = semantics::quiescently_consistent,
      .empty = emptiness::counted,
      .conjectured = true,
      .putters = "wait-free, but for the allocator's part",
      .getters = "lock-free",
      .paper = "Haas, thesis, Salzburg 2015",
      .year = 2015,
      .protection = needs::pointer,
  };
  using kept = typename in_node<T>::kept;

  explicit rts_queue(typename R::domain& domain) : domain_(domain) {}
  rts_queue(const rts_queue&) = delete;
  rts_queue& operator=(const rts_queue&) = delete;
  ~rts_queue() {
    while (remove()) {
    }
    guard g(domain_);
    buffers_.each([&](buffer& b) {
      b.end(g);
      return false;
    });
  }

 private:
  friend collection<rts_queue, T, in_node<T>>;

  using buffer = ts_queue_buffer<kept, point, typename R::header, Memory>;
  using node = typename buffer::node;
  using place = typename buffer::place;
  using guard = typename R::template guard<4>;

  bool insert(kept& e) {
    guard g(domain_);
    node* const n = buffers_.mine().put(g, e);             // stays readable: it is the last of its buffer
    n->stamp.set({stamps_.fetch_add(1, order::release)});  // sync: rts-counted
    return true;
  }

  std::optional<kept> remove() {
    guard g(domain_);
    std::uint64_t ticket = tickets_.load(order::acquire);  // sync: rts-ticket
    do {
      if (ticket == stamps_.load(order::acquire)) return std::nullopt;            // sync: rts-counted
    } while (!tickets_.cas(ticket, ticket + 1, order::release, order::acquire));  // sync: rts-ticket
    for (;;) {
      buffer* whose = nullptr;
      place best;
      std::optional<point> earliest;
      buffers_.each([&](buffer& b) {
        const place p = b.oldest(g);
        if (p.first == nullptr) return false;
        // One without a stamp is later than all others, and still taken if there is none.
        const std::optional<point> stamp = p.first->stamp.get();
        if (whose != nullptr && (!stamp || (earliest && !earlier(*stamp, *earliest)))) return false;
        buffer::hold(g, p);
        whose = &b, best = p, earliest = stamp;
        return stamp && stamp->at <= ticket;
      });
      if (whose == nullptr || !whose->take(best)) continue;
      std::optional<kept> e(best.first->element.take());
      g.retire(best.before);
      return e;
    }
  }

  typename R::domain& domain_;
  by_thread<buffer> buffers_;
  // stamps_ — the next enqueue's number. Written by fetch-and-add, read by dequeues. Only grows.
  //   order  rts-counted: who sees that a stamp was drawn sees its element linked
  alignas(false_sharing_range) atomic<std::uint64_t> stamps_{1};
  // tickets_ — the next dequeue's number. Written by dequeues that have seen that many stamps, read by them. Only
  // grows.
  //   order  rts-ticket: who sees that a ticket was drawn sees the stamp for it
  alignas(false_sharing_range) atomic<std::uint64_t> tickets_{1};
};

}  // namespace polder::ds
