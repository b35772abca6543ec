#pragma once
// ms_queue — a list with a sentinel: its head is where elements leave, its tail where they come.
//
//   paper      Michael and Scott, "Simple, fast, and practical non-blocking and blocking concurrent queue algorithms",
//              PODC 1996, fig. 1; with hazard pointers: Michael, TPDS 2004, fig. 8
//   progress   lock-free: an operation repeats only when another thread's put or get got through
//   in malloc  no: put allocates
//   deviation  no counters beside the pointers: a guard keeps what was read from being used again. Who takes looks at tail
//              only when head has come to where tail was last seen: the line of tail is then the putters' alone
//
// States of a node. An arrow is one successful CAS; in brackets, what the thread that made it owes.
//
//             link: tail's next         swing: tail [nothing: anybody does it]    leave: head [take the next node's
//     made ──────────────────▶ linked ──────────────────▶ passed ──────────────▶ unlinked [retire]        element]
//
// Invariant: from head to the last node along next; reached and then tail are on that way, neither behind the one before.
// The elements are those of the nodes behind head, which is a sentinel: its own has been taken.
//
// Head must not pass tail, or whoever follows tail reads what was freed. This holds with regions too: who comes to tail
// when that node has been retired already is nobody whom the reclaimer waits for.
//
// With counted places a node's place is how many elements came in up to its own. The sentinel's is how many went out; while
// the queue is empty it is how many came in as well, so an empty queue with the same number has had no put in between.
#include <cstdint>
#include <optional>
#include <utility>

#include <polder/base/check.hpp>
#include <polder/base/config.hpp>
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/place.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory, class Place = uncounted>
class ms_queue : public collection<ms_queue<T, R, Memory, Place>, T, in_node<T>>,
                 public queue_names<ms_queue<T, R, Memory, Place>, T> {
 public:
  static constexpr collection_info info = {
      .name = "ms-queue",
      .title = "Michael-Scott queue",
      .kind = shape::queue,
      .order = semantics::linearizable,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Michael and Scott, PODC 1996",
      .year = 1996,
      .protection = needs::pointer,
  };
  using kept = typename in_node<T>::kept;

  // Throws std::bad_alloc.
  explicit ms_queue(typename R::domain& domain) : domain_(domain) {
    guard g(domain_);
    node* const sentinel = g.template make<node>();
    head_.store(sentinel, order::relaxed);
    reached_.store(sentinel, order::relaxed);
    tail_.store(sentinel, order::relaxed);
  }
  ms_queue(const ms_queue&) = delete;
  ms_queue& operator=(const ms_queue&) = delete;
  ~ms_queue() {
    while (remove()) {
    }
    guard g(domain_);
    g.unmake(head_.load(order::relaxed));
  }

  // What follows is for structures that are made of several (parts/distributed.hpp).

  // Throws std::bad_alloc; e is as it was then.
  bool insert(kept& e) {
    guard g(domain_);
    node* const n = g.template make<node>(std::move(e));
    for (;;) {
      node* const last = g.protect(0, tail_);
      node* next = last->next.load(order::acquire);  // sync: queue-link
      n->place.after(last->place);
      if (next == nullptr && last->next.cas(next, n, order::release, order::acquire)) {  // sync: queue-link
        swing(last, n);
        return true;
      }
      swing(last, next);
    }
  }

  std::optional<kept> remove() {
    std::uint64_t ignored;
    return remove(ignored);
  }
  // Empty: `seen` is how many elements came in until then; without counted places, 0.
  std::optional<kept> remove(std::uint64_t& seen) {
    guard g(domain_);
    for (;;) {
      node* first = g.protect(0, head_);
      node* const next = g.protect(1, first->next);
      // It may be freed, if first is head no more: then the CAS of unlink() fails, and nobody has looked into it. If there
      // is none, first was last when that was read, so it was head too.
      if (next == nullptr) {
        seen = first->place.count();
        return std::nullopt;
      }
      std::optional<kept> e = unlink(g, first, next);
      if (e) return e;
    }
  }

  // How many are inside, of a queue at rest; else about that.
  std::uint64_t length()
    requires Place::counts
  {
    guard g(domain_);
    const std::uint64_t out = g.protect(0, head_)->place.count(), in = g.protect(1, tail_)->place.count();
    return in < out ? 0 : in - out;
  }

  // As insert, if `before` elements came in until now; else, or if another did meanwhile, false.
  bool insert_after(std::uint64_t before, kept& e)
    requires Place::counts
  {
    guard g(domain_);
    for (;;) {
      node* const last = g.protect(0, tail_);
      if (last->place.count() > before) return false;
      node* next = last->next.load(order::acquire);  // sync: queue-link
      if (next != nullptr) {
        swing(last, next);
        continue;
      }
      if (last->place.count() < before) return false;
      node* const n = g.template make<node>(std::move(e));
      n->place.after(last->place);
      if (last->next.cas(next, n, order::release, order::relaxed)) {  // sync: queue-link
        swing(last, n);
        return true;
      }
      n->element.take_to(e);
      g.unmake(n);
      return false;
    }
  }

  // As remove into e, which is without, if `before` elements went out until now.
  turn remove_after(std::uint64_t before, std::optional<kept>& e, std::uint64_t& seen)
    requires Place::counts
  {
    guard g(domain_);
    node* const first = g.protect(0, head_);
    if (first->place.count() != before) return turn::passed;
    node* const next = g.protect(1, first->next);
    if (next == nullptr) {
      seen = before;
      return turn::empty;
    }
    std::optional<kept> out = unlink(g, first, next);
    if (!out) return turn::passed;
    e.emplace(*std::move(out));
    return turn::taken;
  }

 private:
  friend collection<ms_queue, T, in_node<T>>;

  struct node : R::header, Memory {
    node() noexcept = default;
    explicit node(kept&& e) noexcept : element(std::move(e)) {}
    // next — the node behind, or null. Written once, by the CAS that links it; read by all who pass.
    //   order  queue-link: who sees the node sees its element, its place and its null
    atomic<node*> next;
    [[no_unique_address]] Place place;  // written before the node is linked
    held<kept> element;                 // the same; taken by who moved head to this node
  };
  using guard = typename R::template guard<2>;

  // Both are protected. Nothing: another was faster.
  std::optional<kept> unlink(guard& g, node* first, node* next) {
    node* expected = first;
    if (reached_.load(order::acquire) == first) {  // sync: queue-reached
      node* last = tail_.load(order::relaxed);
      if (last == first) swing(first, last = next);
      reached_.cas(expected, last, order::release, order::relaxed);  // sync: queue-reached
      expected = first;
    }
    POLDER_CHECK(2,
                 tail_.load(order::relaxed) != first);  // nor reached: where it is another node, it is behind first
    if (!head_.cas(expected, next, order::acq_rel, order::relaxed)) return std::nullopt;  // sync: queue-leave
    std::optional<kept> e(next->element.take());
    g.retire(first);
    return e;
  }

  void swing(node* from, node* to) noexcept {
    tail_.cas(from, to, order::release, order::relaxed);  // sync: queue-link
  }

  typename R::domain& domain_;
  // head_ — the sentinel. Written by who takes an element, read by all who do.
  //   order  queue-leave: who sees a node as head sees all that was before it became so
  //   ABA    a guard keeps the node that was read from being used again
  alignas(false_sharing_range) atomic<node*> head_;
  // reached_ — a node to which tail has come. Written, from head to one behind it, and read by who takes; in the line that
  //   they write anyway.
  //   order  queue-reached: who sees it sees tail no earlier
  //   ABA    as head_; it is never behind head, so the node is in the queue
  atomic<node*> reached_;
  // tail_ — the last node or one before it. Written by whoever finds it behind; read by who puts. ABA: as head_.
  alignas(false_sharing_range) atomic<node*> tail_;
};

}  // namespace polder::ds
