#pragma once
// helped_queue — a Michael-Scott queue whose threads help one that got nowhere, so that every operation ends.
//
//   paper      Kogan and Petrank, "A methodology for creating fast wait-free data structures", PPoPP 2012, sec. 3, over their
//              "Wait-free queues with multiple enqueuers and dequeuers", PPoPP 2011
//   progress   wait-free, where protect and the making of nodes are: under reclaimers of regions and wait-free eras. Under
//              hazard pointers and eras protect repeats while head, tail or an operation's word changes, so a single call is
//              lock-free there: an announced operation ends in a bounded number of others' all the same, but its caller
//              or a helper may be kept reading. Without memory for an operation its caller stays on the fast path
//   in malloc  no: put allocates, and so does the first call of a thread's number
//   deviation  a node names the operation, not the thread. An operation is one object whose word counts attempts, where the
//              paper replaces a descriptor at each step: helpers allocate nothing. No phases: a helper looks at the
//              next thread's word every helping_delay operations, and helps with what it finds. A node has two who let go of
//              it (see `shares`): the paper leaves that to a garbage collector
//
// States of an operation:
//
//                 announce        put: its node is linked, get: a head is claimed for it [finish]
//          made ───────────▶ pending ────────────────────────────────────────────▶ done ──────▶ withdrawn [retire]
//                               └───── get: there was nothing ─────▶ empty ─────────────────────────▶
//
// and of a node, as the sentinel whose next has the element:
//
//             link: last's next                   swing [nothing]           claim [finish]              leave: head
//     made ─────────────────────▶ linked, last ────────────────▶ passed ─────────────▶ claimed ─────────────────▶ unlinked
//
// Invariants. (1) As of ms_queue: head is never behind tail, and elements are those of the nodes behind head. (2) Tail passes
// a node only after its operation is done, head a claimed one likewise; and a caller returns only after they have. So while
// tail is before a node, or head is at it, the operation that the node names is not retired. (3) At most one head is
// claimed for an operation, and none if it found nothing: see help_dequeue.
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

// Where a test may stop a thread.
enum class slow_path : std::uint8_t { announced, linked, attempted, claimed, finished, done };
struct unobserved {
  static void at(slow_path) noexcept {}
};

// Records<C>: at(number) makes the cell of a thread's number, or throws; find(number) is null if there is none.
template <class E, class R, class Memory, template <class> class Records, class Observer = unobserved>
class helped_queue {
 public:
  using number = std::uint32_t;  // of a thread, from 1

  struct options {
    unsigned max_retries;    // on the fast path
    unsigned helping_delay;  // operations between two looks at another thread, at least 1
  };

  // Slots: 0 head or tail, 1 the next, 2 the operation that a node names, 3 one that is helped.
  using guard = typename R::template guard<4>;

  // Throws std::bad_alloc.
  helped_queue(typename R::domain& domain, options o) : domain_(domain), options_(o) {
    guard g(domain_);
    node* const sentinel = g.template make<node>();
    head_.store(sentinel, order::relaxed);
    tail_.store(sentinel, order::relaxed);
  }
  helped_queue(const helped_queue&) = delete;
  helped_queue& operator=(const helped_queue&) = delete;
  ~helped_queue() {
    guard g(domain_);
    for (bool any = true; any;) {
      if (const auto [over, first] = try_dequeue(g); over) any = taken(g, first).has_value();
    }
    g.unmake(head_.load(order::relaxed));
  }

  // By the thread of this number. Throws std::bad_alloc; e is as it was then.
  void insert(guard& g, E& e, number self) {
    record& mine = own_record(self);
    node* const n = g.template make<node>(std::move(e));
    help_another(g, mine);
    for (;;) {
      for (unsigned i = 0; i != options_.max_retries; ++i) {
        if (try_enqueue(g, n)) return;
      }
      operation* const o = announce(g, mine, n);
      if (o == nullptr) {
        if (try_enqueue(g, n)) return;
        continue;
      }
      help_enqueue(g, *o);
      Observer::at(slow_path::done);
      finish_enqueue(g);  // for tail
      withdraw(g, mine, o);
      return;
    }
  }

  // The same. Nothing: it is empty.
  std::optional<E> remove(guard& g, number self) {
    record& mine = own_record(self);
    help_another(g, mine);
    for (;;) {
      for (unsigned i = 0; i != options_.max_retries; ++i) {
        if (const auto [over, first] = try_dequeue(g); over) return taken(g, first);
      }
      operation* const o = announce(g, mine, nullptr);
      if (o == nullptr) {
        if (const auto [over, first] = try_dequeue(g); over) return taken(g, first);
        continue;
      }
      help_dequeue(g, *o);
      Observer::at(slow_path::done);
      finish_dequeue(g);  // for head
      node* const first = o->claimed.load(order::relaxed);
      withdraw(g, mine, o);
      return taken(g, first);
    }
  }

 private:
  struct operation;
  struct node : R::header, Memory {
    node() noexcept : shares(1) {}
    explicit node(E&& e) noexcept : shares(2), element(std::move(e)) {}
    // next — as of ms_queue: written once. Order: wf-link.
    atomic<node*> next;
    // enqueuer — the operation that announced it, or null. Written before it is linked, read by who swings tail.
    atomic<operation*> enqueuer;
    // dequeuer — whose the next one's element is: null, fast(), or an operation. Written once, by CAS, while this is head.
    //   order  structure: who sees the claim, by the guard, sees that tail has passed
    atomic<operation*> dequeuer;
    // shares — who still needs it: who takes its element, and who claimed it as head. The last one retires it: hazard
    // pointers cannot keep a next for a caller that comes back long after head has left. Order: wf-let-go.
    atomic<std::uint32_t> shares;
    held<E> element;
  };

  struct operation : R::header, Memory {
    explicit operation(node* n) noexcept : enqueued(n) {}
    node* const enqueued;  // null: it is a dequeue
    // word — its state, and above that how often helpers set out to claim a head.
    //   written by  who helps: done and attempts by fetch_or and fetch_add, empty by CAS
    //   read by     the same, and the caller
    //   order       wf-outcome: claimed is there; and tail as it was seen before an attempt
    atomic<std::uint64_t> word;
    // claimed — the head that was. Written by all who finish it, the same value; read by the caller. Order: wf-outcome.
    atomic<node*> claimed;
  };
  static constexpr std::uint64_t done = 1, empty = 2, attempt = 4;
  static bool pending(std::uint64_t word) noexcept { return (word & (done | empty)) == 0; }

  struct alignas(false_sharing_range) record {
    // announced — what its thread wants help with, or null. Written by that thread, read by who helps.
    //   order  structure: the operation is whole, to who protects it
    atomic<operation*> announced;
    // The thread's own.
    bool known = false;
    unsigned until_look = 0;
    number looked_at = 0;
  };

  static operation* fast() noexcept { return reinterpret_cast<operation*>(alignof(operation)); }

  // Of the head that was claimed; null: the queue was empty. Nobody else touches the element, and both nodes wait for this.
  std::optional<E> taken(guard& g, node* first) {
    if (first == nullptr) return std::nullopt;
    node* const next = first->next.load(order::relaxed);
    std::optional<E> e(next->element.take());
    let_go(g, first);
    let_go(g, next);
    return e;
  }
  static void let_go(guard& g, node* n) {
    if (n->shares.fetch_sub(1, order::acq_rel) == 1) g.retire(n);  // sync: wf-let-go
  }

  // ---- the fast path -------------------------------------------------------------------------------------------------

  bool try_enqueue(guard& g, node* n) {
    node* const last = g.protect(0, tail_);
    node* next = last->next.load(order::relaxed);
    if (next == nullptr && last->next.cas(next, n, order::release, order::relaxed)) {  // sync: wf-link
      node* expected = last;
      tail_.cas(expected, n, order::release, order::relaxed);  // sync: wf-link
      return true;
    }
    finish_enqueue(g);
    return false;
  }

  struct attempted {
    bool over;
    node* first;  // null: there was nothing
  };
  attempted try_dequeue(guard& g) {
    node* const first = g.protect(0, head_);
    // If there is none, first was head then: head leaves what has a next.
    if (first->next.load(order::relaxed) == nullptr) return {true, nullptr};
    if (tail_.load(order::acquire) == first) {  // sync: wf-link
      finish_enqueue(g);
      return {false, nullptr};
    }
    operation* nobody = nullptr;
    const bool mine = first->dequeuer.cas(nobody, fast(), order::release, order::relaxed);  // sync: structure
    finish_dequeue(g);
    return {mine, first};
  }

  // ---- the slow path -------------------------------------------------------------------------------------------------

  // Null: there is no memory.
  operation* announce(guard& g, record& mine, node* n) noexcept {
    operation* o;
    try {
      o = g.template make<operation>(n);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    if (n != nullptr) n->enqueuer.store(o, order::relaxed);
    mine.announced.store(o, order::release);  // sync: structure
    Observer::at(slow_path::announced);
    return o;
  }
  void withdraw(guard& g, record& mine, operation* o) {
    mine.announced.store(nullptr, order::relaxed);
    g.retire(o);
  }

  // o is protected, or the caller's own.
  //
  // Its node is linked once. A CAS that succeeds found last still without a next, so nothing has been linked since last was
  // tail; were the node linked before, tail would have passed it, after o was done: and that is looked at in between. The
  // node itself is not touched: it may be freed, if o is done.
  void help_enqueue(guard& g, operation& o) {
    while (pending(o.word.load(order::acquire))) {  // sync: wf-outcome
      node* const last = g.protect(0, tail_);
      node* next = last->next.load(order::relaxed);
      if (next == nullptr) {
        if (!pending(o.word.load(order::acquire))) return;                 // sync: wf-outcome
        last->next.cas(next, o.enqueued, order::release, order::relaxed);  // sync: wf-link
        Observer::at(slow_path::linked);
      }
      finish_enqueue(g);
    }
  }

  // Whoever finds tail behind: the operation that the next node names is done, then tail moves.
  void finish_enqueue(guard& g) {
    node* last = g.protect(0, tail_);
    node* const next = g.protect(1, last->next);
    if (next == nullptr || tail_.load(order::relaxed) != last) return;  // while it is, next is not unlinked
    if (operation* const o = g.protect(2, next->enqueuer)) {
      if (tail_.load(order::relaxed) != last) return;  // while it is, o is not retired
      o->word.fetch_or(done, order::release);          // sync: wf-outcome
      Observer::at(slow_path::finished);
    }
    tail_.cas(last, next, order::release, order::relaxed);  // sync: wf-link
  }

  // o is protected, or the caller's own.
  //
  // At most one head is claimed for it. A claim by CAS of a head G that succeeds found nobody's claim there, so head has been
  // G since it was read; another for o would be of an earlier head, and then o was done before head left that one, which
  // the attempt's fetch_add saw.
  // None is claimed if it found nothing. Who says so has read first's next, then the word, then that tail is first. An
  // attempt that the word did not count makes the CAS to empty fail, or sees it. An attempt that it counted had seen tail
  // past its head: if that is first, or after it, tail is not first any more; if it is before first, its claim comes too late.
  void help_dequeue(guard& g, operation& o) {
    while (pending(o.word.load(order::acquire))) {  // sync: wf-outcome
      node* const first = g.protect(0, head_);
      if (first->next.load(order::relaxed) == nullptr) {
        std::uint64_t seen = o.word.load(order::acquire);  // sync: wf-outcome
        if (pending(seen) && tail_.load(order::relaxed) == first)
          o.word.cas(seen, seen | empty, order::relaxed, order::relaxed);
        continue;
      }
      if (tail_.load(order::acquire) == first) {  // sync: wf-link
        finish_enqueue(g);
        continue;
      }
      if (!pending(o.word.fetch_add(attempt, order::acq_rel))) return;  // sync: wf-outcome
      Observer::at(slow_path::attempted);
      operation* nobody = nullptr;
      first->dequeuer.cas(nobody, &o, order::release, order::relaxed);  // sync: structure
      Observer::at(slow_path::claimed);
      finish_dequeue(g);
    }
  }

  // Whoever finds head claimed: the operation it is claimed for is done, then head moves.
  void finish_dequeue(guard& g) {
    node* first = g.protect(0, head_);
    operation* const o = g.protect(2, first->dequeuer);
    if (o == nullptr) return;
    if (o != fast()) {
      if (head_.load(order::relaxed) != first) return;  // while it is, o is not retired
      o->claimed.store(first, order::relaxed);
      o->word.fetch_or(done, order::release);  // sync: wf-outcome
      Observer::at(slow_path::finished);
    }
    node* const next = first->next.load(order::relaxed);     // who claimed first had seen tail pass
    head_.cas(first, next, order::release, order::relaxed);  // sync: structure
  }

  // ---- helping -------------------------------------------------------------------------------------------------------

  record& own_record(number self) {
    record& mine = records_.at(self);
    if (!mine.known) [[unlikely]] {
      mine.known = true;
      mine.until_look = options_.helping_delay;
      number most = highest_.load(order::relaxed);
      while (most < self && !highest_.cas(most, self, order::relaxed, order::relaxed)) {
      }
    }
    return mine;
  }

  void help_another(guard& g, record& mine) {
    if (--mine.until_look != 0) return;
    mine.until_look = options_.helping_delay;
    mine.looked_at = mine.looked_at < highest_.load(order::relaxed) ? mine.looked_at + 1 : 1;
    record* const other = records_.find(mine.looked_at);
    if (other == nullptr || other->announced.load(order::relaxed) == nullptr) return;
    operation* const o = g.protect(3, other->announced);
    if (o == nullptr) return;
    if (o->enqueued != nullptr) help_enqueue(g, *o);
    else help_dequeue(g, *o);
    g.clear(3);
  }

  typename R::domain& domain_;
  const options options_;
  Records<record> records_;
  // highest_ — the highest number of a thread that came. It only grows, and late is harmless: so is help.
  atomic<number> highest_;
  // head_ — the sentinel. Written by who finishes a get. Order: structure. ABA: a guard keeps it.
  alignas(false_sharing_range) atomic<node*> head_;
  // tail_ — the last node or the one before it. Written by who finishes a put. Order: wf-link. ABA: a guard keeps it.
  alignas(false_sharing_range) atomic<node*> tail_;
};

}  // namespace polder::ds
