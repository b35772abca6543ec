#pragma once
// mpsc_list — a list that many threads put to by one exchange, and one thread gets from.
//
//   paper      Vyukov, "Non-intrusive MPSC node-based queue", 1024cores.net, 2010
//   progress   put wait-free but for the allocator's part; get wait-free
//   in malloc  no: put allocates
//
// States of a node. In brackets, what the thread that made the step owes.
//
//             exchange of last_ [link]        link: next of the node before        get [free the node before]
//     made ─────────────────────────▶ last ──────────────────────────────▶ linked ────────────────────▶ sentinel
//
// Between the exchange and the link, what was put from that node on is out of get's sight: get says empty then, though
// puts behind it have returned. It says so until the putter goes on, and it does not wait.
//
// The node before cannot be freed while its link is owed: get passes a node only along its link. So nothing is retired.
//
// Invariant: from first_ along next to last_, but for the links that are owed. The elements are those of the nodes behind
// first_, which is a sentinel: its own has been taken.
#include <optional>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class mpsc_list : public collection<mpsc_list<T, R, Memory>, T, in_node<T>>,
                  public queue_names<mpsc_list<T, R, Memory>, T> {
 public:
  static constexpr collection_info info = {
      .name = "mpsc-list",
      .title = "list of many putters and one getter",
      .kind = shape::queue,
      .order = semantics::linearizable,
      .empty = emptiness::may_err,
      .putters = "wait-free, but for the allocator's part",
      .getters = "wait-free; what is put behind a putter that stalls inside is seen when it goes on",
      .most_getters = 1,
      .paper = "Vyukov, 1024cores.net, 2010",
      .year = 2010,
  };
  using kept = typename in_node<T>::kept;

  // Throws std::bad_alloc.
  mpsc_list() : last_(new node), first_(last_.load(order::relaxed)) {}
  mpsc_list(const mpsc_list&) = delete;
  mpsc_list& operator=(const mpsc_list&) = delete;
  ~mpsc_list() {
    while (remove()) {
    }
    delete first_;
  }

 private:
  friend collection<mpsc_list, T, in_node<T>>;

  struct node : Memory {
    node() noexcept = default;
    explicit node(kept&& e) noexcept : element(std::move(e)) {}
    // next — the node behind, or null. Written once, by who put that one; read by the getter.
    //   order  mpsc-link: who sees the node sees its element
    atomic<node*> next;
    held<kept> element;  // written before the exchange; taken by the getter
  };

  bool insert(kept& e) {
    node* const n = new node(std::move(e));
    node* const before = last_.exchange(n, order::acq_rel);  // sync: mpsc-put
    before->next.store(n, order::release);                   // sync: mpsc-link
    return true;
  }

  std::optional<kept> remove() noexcept {
    node* const next = first_->next.load(order::acquire);  // sync: mpsc-link
    if (next == nullptr) return std::nullopt;
    std::optional<kept> e(next->element.take());
    delete std::exchange(first_, next);
    return e;
  }

  // last_ — the node put last. Written and read by who puts.
  //   order  mpsc-put: who gets the node from it finds its next written as null before
  //   ABA    no word is compared
  alignas(false_sharing_range) atomic<node*> last_;
  alignas(false_sharing_range) node* first_;  // the getter only
};

}  // namespace polder::ds
