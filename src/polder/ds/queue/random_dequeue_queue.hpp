#pragma once
// random_dequeue_queue — a Michael-Scott queue from which one of the first few elements leaves, picked at random.
//
//   paper      Afek, Korland and Yanovsky, "Quasi-linearizability: relaxed consistency for improved concurrency",
//              OPODIS 2010, sec. 4.2; the list: ms_queue.hpp
//   progress   lock-free: an operation repeats only when another thread's put or get got through
//   in malloc  no: put allocates
//   deviation  A get that finds its pick taken takes the nearest element before it that it passed, and picks again only if that
//              goes too; in the paper it picks again at once. After max_retries it takes the first element, as there
//
// States of a node. An arrow is one successful CAS; in brackets, what the thread that made it owes.
//
//             link: tail's next        take: taken [the element]          leave: head [retire]
//     made ──────────────────▶ linked ────────────────────────▶ taken ───────────────────────▶ sentinel, then unlinked
//
// Invariant: from head to the last node along next; tail is on that way, never behind head. Head is a sentinel; the elements
// are those of the nodes behind it that are not taken. Head passes taken nodes only.
//
// Order. A get begins at head and looks at quasi_factor nodes, taken ones counted; when these are all taken it goes on to the
// first that is not. All along head has not moved. So when it takes a node, all older elements inside lie between that head
// and the node: at most quasi_factor - 1 of them. Nor can more than quasi_factor - 1 overtake an element, for head does not pass
// it, so they lie in the quasi_factor - 1 nodes behind it.
//
// Empty, exactly: get saw every node from head to the last taken, and then a null next. What was seen taken stays so.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/random.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class random_dequeue_queue : public collection<random_dequeue_queue<T, R, Memory>, T, in_node<T>>,
                             public queue_names<random_dequeue_queue<T, R, Memory>, T> {
 public:
  static constexpr collection_info info = {
      .name = "random-dequeue-queue",
      .title = "Random dequeue queue",
      .kind = shape::queue,
      .order = semantics::k_out_of_order,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Afek, Korland and Yanovsky, OPODIS 2010",
      .year = 2010,
      .parameters = "quasi factor, max retries",
      .protection = needs::pointer,
  };
  using kept = typename in_node<T>::kept;
  static constexpr std::size_t usual_quasi_factor = 80;
  static constexpr unsigned usual_max_retries = 10;

  // Throws std::bad_alloc.
  explicit random_dequeue_queue(typename R::domain& domain) : random_dequeue_queue(domain, usual_quasi_factor) {}
  // quasi_factor: how many nodes a get picks from, 1 to 2^32 - 1; else throws std::invalid_argument. max_retries: how often it
  // picks before it takes the first element.
  random_dequeue_queue(typename R::domain& domain, std::size_t quasi_factor,
                       unsigned max_retries = usual_max_retries)
      : domain_(domain), quasi_factor_(checked(quasi_factor)), max_retries_(max_retries) {
    guard g(domain_);
    node* const sentinel = g.template make<node>();
    head_.store(sentinel, order::relaxed);
    tail_.store(sentinel, order::relaxed);
  }
  random_dequeue_queue(const random_dequeue_queue&) = delete;
  random_dequeue_queue& operator=(const random_dequeue_queue&) = delete;
  ~random_dequeue_queue() {
    while (remove()) {
    }
    guard g(domain_);
    for (node* n = head_.load(order::relaxed); n != nullptr;)
      g.unmake(std::exchange(n, n->next.load(order::relaxed)));
  }

  // How many older elements a get may pass over.
  std::size_t k() const noexcept { return quasi_factor_ - 1; }

 private:
  friend collection<random_dequeue_queue, T, in_node<T>>;

  struct node : R::header, Memory {
    node() noexcept = default;
    explicit node(kept&& e) noexcept : element(std::move(e)) {}
    // next — the node behind, or null. Written once, by the CAS that links it; read by all who pass.
    //   order  queue-link: who sees the node sees its element and its null
    atomic<node*> next;
    // taken — written once, by the CAS of who takes the element; read by all who pass.
    //   order  node-taken: who sees a node taken sees what its taker had seen: of a thread that leaves an element behind and
    //            takes another, nobody sees the second alone
    atomic<bool> taken;
    held<kept> element;  // written before the node is linked; taken by who set `taken`
  };
  using guard = typename R::template guard<4>;
  static constexpr unsigned at_head = 0, at_pick = 3;  // slots; 1 and 2 by turns

  static std::uint32_t checked(std::size_t quasi_factor) {
    if (quasi_factor == 0 || quasi_factor > std::numeric_limits<std::uint32_t>::max())
      throw std::invalid_argument("random_dequeue_queue: quasi_factor is from 1 to 2^32 - 1");
    return std::uint32_t(quasi_factor);
  }

  bool insert(kept& e) {
    guard g(domain_);
    node* const n = g.template make<node>(std::move(e));
    for (;;) {
      node* const last = g.protect(0, tail_);
      node* next = last->next.load(order::acquire);                                      // sync: queue-link
      if (next == nullptr && last->next.cas(next, n, order::release, order::acquire)) {  // sync: queue-link
        swing(last, n);
        return true;
      }
      swing(last, next);
    }
  }

  std::optional<kept> remove() {
    guard g(domain_);
    for (unsigned tries = 0;; ++tries) {
      node* const first = g.protect(at_head, head_);
      const found f = pick(g, first, tries < max_retries_ ? random::below(quasi_factor_) : 0);
      if (f.moved) continue;
      if (f.at == nullptr) return std::nullopt;
      bool was = false;
      if (!f.at->taken.cas(was, true, order::acq_rel, order::relaxed)) continue;  // sync: node-taken
      std::optional<kept> e(f.at->element.take());
      pass_taken(g, first);
      return e;
    }
  }

  struct found {
    node* at;    // the pick, kept by its slot; null: there is no element
    bool moved;  // head moved, nothing can be said
  };

  // The last node not taken among the first `far` + 1 behind `first`, which head_ was; if there is none, the next one.
  found pick(guard& g, node* first, std::uint32_t far) noexcept {
    node* seen = nullptr;
    node* from = first;
    for (unsigned slot = 1;; slot = 3 - slot) {
      node* const n = g.protect(slot, from->next);
      // Only while `first` is head is what it leads to in the queue: not unlinked, so protected from here on.
      if (head_.load(order::acquire) != first) return {nullptr, true};  // sync: queue-leave
      if (n == nullptr) return {seen, false};
      if (!n->taken.load(order::acquire)) {  // sync: node-taken
        g.hold(at_pick, n);
        seen = n;
      }
      if (far == 0 && seen != nullptr) return {seen, false};
      if (far != 0) --far;
      from = n;
    }
  }

  // Moves head over what is taken, as long as no other does.
  void pass_taken(guard& g, node* first) {
    for (;;) {
      node* const next = g.protect(1, first->next);
      if (head_.load(order::acquire) != first) return;                   // sync: queue-leave
      if (next == nullptr || !next->taken.load(order::acquire)) return;  // sync: node-taken
      // Head must not pass tail: whoever follows tail would read what was freed.
      if (tail_.load(order::relaxed) == first) swing(first, next);
      node* expected = first;
      if (!head_.cas(expected, next, order::acq_rel, order::relaxed)) return;  // sync: queue-leave
      g.hold(at_head, next);
      g.retire(first);
      first = next;
    }
  }

  void swing(node* from, node* to) noexcept {
    tail_.cas(from, to, order::release, order::relaxed);  // sync: queue-link
  }

  typename R::domain& domain_;
  const std::uint32_t quasi_factor_;
  const unsigned max_retries_;
  // head_ — the sentinel. Written by who passes taken nodes, read by all who get.
  //   order  queue-leave: who sees a node as head sees all that was before it became so
  //   ABA    a guard keeps the node that was read from being used again
  alignas(false_sharing_range) atomic<node*> head_;
  // tail_ — the last node or one before it. Written by whoever finds it behind; read by who puts. ABA: as head_.
  alignas(false_sharing_range) atomic<node*> tail_;
};

}  // namespace polder::ds
