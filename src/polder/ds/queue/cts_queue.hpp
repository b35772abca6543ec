#pragma once
// cts_queue — cooperative time-stamped queue: enqueue draws a stamp, dequeue a ticket, and the element with the stamp
// that equals the ticket is its own.
//
//   paper      Haas, "Fast concurrent data structures through timestamping", thesis, Salzburg 2015
//   progress   enqueue: lock-free, alone but for a fetch-and-add; dequeue: blocking, it waits for the one element
//              that is its
//   in malloc  no: enqueue allocates
//   deviation  the stamp is drawn before the element is linked, so it never changes; what is taken is unlinked and
//              retired. A ticket is drawn, by CAS, when its stamp has been, inside the guard in which it is answered:
//              opening one may throw, and a ticket that is lost takes its element along. Who waits for a stamp holds no
//              guard, so reclamation goes on, and gives the processor away instead of spinning; who waits for the link
//              does, as does the enqueue that is about to write it. Of a T whose move throws, an element that could not be
//              handed over goes to the next dequeue, or to one that waits for a stamp
//
//     dequeue: until the next stamp is drawn ──▶ ticket drawn ──▶ until it is linked ──▶ taken
//                 [looks at two words]             [a guard]        [looks through the lists]
//
// Invariant: of each number one element and one dequeue; so the elements leave in the order of the stamps, and two
// dequeues never want the same one. If there are more dequeues than enqueues, the surplus waits for enqueues to come.
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/by_thread.hpp>
#include <polder/ds/parts/clock.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/ts_lane.hpp>
#include <polder/ds/suits.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class cts_queue : public collection<cts_queue<T, R, Memory>, T, in_node<T>>,
                  public queue_names<cts_queue<T, R, Memory>, T> {
 public:
  static constexpr collection_info info = {
      .name = "cts-queue",
      .title = "cooperative TS queue",
      .kind = shape::queue,
      .order = semantics::linearizable,
      .empty = emptiness::waits,
      .putters = "lock-free",
      .getters = "blocking: each waits for one element",
      .paper = "Haas, thesis, Salzburg 2015",
      .year = 2015,
      .protection = needs::region,
  };
  using kept = typename in_node<T>::kept;

  explicit cts_queue(typename R::domain& domain) : domain_(domain) {
    static_assert(suits<R>(info), "the reclaimer does not suit the structure: suits.hpp, unsuited");
  }
  cts_queue(const cts_queue&) = delete;
  cts_queue& operator=(const cts_queue&) = delete;
  ~cts_queue() {
    guard g(domain_);
    lanes_.each([&](lane& l) {
      l.end(g);
      return false;
    });
  }

 private:
  friend collection<cts_queue, T, in_node<T>>;

  using lane = ts_lane<kept, point, typename R::header, Memory>;
  using node = typename lane::node;
  using guard = typename R::template guard<1>;

  bool insert(kept& e) {
    guard g(domain_);
    lane& mine = lanes_.mine();
    node* const n = g.template make<node>(std::move(e));
    n->stamp.set({stamps_.fetch_add(1, order::relaxed)});
    mine.put(g, n);
    return true;
  }

  std::optional<kept> remove() {
    for (;;) {
      if (!wait_for_a_stamp()) return std::nullopt;
      guard g(domain_);
      const std::uint64_t ticket = draw();
      if (ticket == none) continue;
      for (;;) {
        if (std::optional<kept> e = take(g, ticket)) return e;
        std::this_thread::yield();  // its enqueue has drawn the stamp, and is about to link it
      }
    }
  }

  // False: an element came back from a dequeue that could not hand it over, and has no stamp any more.
  bool wait_for_a_stamp() noexcept {
    for (unsigned looks = 0; stamps_.load(order::relaxed) <= tickets_.load(order::relaxed); ++looks) {
      if (this->has_returned()) return false;
      if (looks >= patience) std::this_thread::yield();
    }
    return true;
  }

  // The next ticket; none: others have drawn all whose stamps are drawn.
  std::uint64_t draw() noexcept {
    std::uint64_t next = tickets_.load(order::relaxed);
    while (next < stamps_.load(order::relaxed)) {
      if (tickets_.cas(next, next + 1, order::relaxed, order::relaxed)) return next;
    }
    return none;
  }

  std::optional<kept> take(guard& g, std::uint64_t ticket) {
    std::optional<kept> e;
    lanes_.each([&](lane& l) {
      node* const n = l.find([&](node& seen) { return seen.stamp.get()->at >= ticket; });  // stamps ascend
      if (n == nullptr || n->stamp.get()->at != ticket) return false;
      l.take(n);
      e.emplace(n->element.take());
      l.bury(g, n);
      return true;
    });
    return e;
  }

  static constexpr std::uint64_t none = 0;   // numbers begin at 1
  static constexpr unsigned patience = 100;  // looks, before the processor is given away

  typename R::domain& domain_;
  by_thread<lane> lanes_;
  // stamps_, tickets_ — the next enqueue's and the next dequeue's number. Written by fetch-and-add and by CAS; they only
  // grow; relaxed, since elements are found by their links.
  alignas(false_sharing_range) atomic<std::uint64_t> stamps_{1};
  alignas(false_sharing_range) atomic<std::uint64_t> tickets_{1};
};

}  // namespace polder::ds
