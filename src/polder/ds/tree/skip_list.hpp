#pragma once
// skip_list — a sorted list with express lanes: each lane is a list of marked links.
//
//   paper      Fraser, "Practical lock-freedom", 2004, 4.3.3; Herlihy & Shavit, "The art of multiprocessor programming",
//              14.4; Pugh, CACM 1990
//   progress   insert, erase: lock-free; contains, get: wait-free in a list that does not grow
//   in malloc  no: insert allocates
//   deviation  reclamation: a node is retired by the last of the two that may still write links to it, see `hands`
//
// States of a node. An arrow is one successful CAS; in brackets, what the thread that made it owes.
//
//              link the lowest lane          mark the lowest link
//     made ──────────────────────▶ in the map ─────────────────────▶ removed ─────────▶ retired
//          [link the others, as                [let go of it]                the second to let go [unlink it
//           long as they are not                                              from all lanes, retire it]
//           marked; let go of it]
//
// A removal marks the higher links first, from the top. Who inserted it may still be linking it to a lane when the removal is
// over. Only who inserted links it anywhere; so when both have let go, one more search takes it from every lane, for good.
//
// Invariant: in each lane keys do not fall, and of equal ones all but the last are removed; the map is the nodes of the
// lowest lane that are not marked there. A link that is marked never changes again.
//
// Why that search must pass equal keys: a newer node with the same key may have been linked before the old one, by an
// insertion that saw the lane before the old one was marked in it.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <polder/base/check.hpp>
#include <polder/base/config.hpp>
#include <polder/ds/suits.hpp>
#include <polder/ds/tree/map_info.hpp>
#include <polder/sync/atomic.hpp>
#include <polder/sync/marked_pointer.hpp>

namespace polder::ds {

// How many lanes a node is in: one in four is a lane higher.
struct one_in_four {
  static constexpr unsigned lanes = 12;  // at most
  static unsigned draw() noexcept {
    static thread_local std::uint64_t state = reinterpret_cast<std::uintptr_t>(&state) | 1;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return std::min(lanes, 1 + unsigned(std::countr_zero(state >> 32 | 1ull << 62)) / 2);
  }
};

template <class K, class V, class R, class Heights = one_in_four>
class skip_list : public counted_at_rest<skip_list<K, V, R, Heights>> {
 public:
  static constexpr map_info info = {.name = "skip-list",
                                    .title = "Lock-free skip list",
                                    .semantics = "ordered map, linearizable",
                                    .readers = "wait-free in a list that does not grow",
                                    .updaters = "lock-free",
                                    .paper = "Fraser, PhD thesis 2004, 4.3.3; Herlihy & Shavit, 14.4",
                                    .year = 2004,
                                    .parameters = "one node in four is a lane higher; at most 12 lanes",
                                    .protection = needs::region};
  using key_type = K;
  using value_type = V;
  using reclaimer_type = R;

  static constexpr unsigned lanes = Heights::lanes;
  static constexpr std::uintptr_t mark = 1;
  struct node;
  using word = marked_pointer<node, 1>;
  using link = atomic<word>;

  // A node's links lie behind it: it is a tower<as many as it has room for>.
  struct node : R::header {
    node(const K& k, const V& v, unsigned lanes_of_it) : height(lanes_of_it), key(k), value(v) {}
    link& next(unsigned lane) noexcept { return static_cast<tower<lanes>*>(this)->links[lane]; }
    const link& next(unsigned lane) const noexcept { return static_cast<const tower<lanes>*>(this)->links[lane]; }

    // hands — how many may still link the node, or hold it for removal: who inserted it, who removes it.
    //   written by  those two, once each
    //   read by     the same
    //   order       skip-let-go: the second comes after all links that the first wrote
    //   ABA         it only falls
    atomic<unsigned> hands{2};
    const unsigned height;
    const K key;                          // written before the node is linked
    [[no_unique_address]] const V value;  // the same
  };
  template <unsigned N>
  struct tower : node {
    using node::node;
    // links — the following node in each lane, and whether this one is removed from it.
    //   written by  who made the node: before it is linked, and by CAS before it is linked to that lane; then by CAS: who
    //               links or unlinks a successor, who marks it
    //   read by     every thread that passes
    //   order       skip-link: publishes the node that is linked; unlinking hands the successor on.
    //               skip-mark, of the lowest: who finds the key gone comes after the removal
    //   ABA         no node is used again while a guard is open that has seen it
    alignas(8) link links[N];
  };

  explicit skip_list(typename R::domain& domain) noexcept : domain_(domain) {
    static_assert(suits<R>(info), "the reclaimer does not suit the structure: suits.hpp, unsuited");
  }
  skip_list(const skip_list&) = delete;
  skip_list& operator=(const skip_list&) = delete;
  ~skip_list() {
    guard g(domain_);
    for (node* n = first_[0].load(order::acquire).pointer(); n != nullptr;) {  // sync: skip-link
      node* const next = n->next(0).load(order::acquire).pointer();            // sync: skip-link
      with_tower(n, [&](auto* t) { g.unmake(t); });
      n = next;
    }
  }

  // False: the key is there, and keeps its value. Throws std::bad_alloc, and then nothing happened.
  bool insert(const K& key, const V& value = {}) {
    guard g(domain_);
    places p;
    if (find(g, key, p)) return false;
    node* const made = make(g, key, value);
    const unsigned height = made->height;
    for (;;) {
      for (unsigned lane = 0; lane != height; ++lane) made->next(lane).store(p.at[lane], order::relaxed);
      if (p.from[0]->cas(p.at[0], word(made), order::acq_rel, order::relaxed)) break;  // sync: skip-link
      if (find(g, key, p)) {
        with_tower(made, [&](auto* t) { g.unmake(t); });
        return false;
      }
    }
    link_others(g, *made, p);
    let_go(g, made);
    return true;
  }

  bool erase(const K& key) {
    return remove(key, [](const V&) {});
  }
  std::optional<V> take(const K& key) {
    std::optional<V> taken;
    if (!remove(key, [&](const V& v) { taken.emplace(v); })) taken.reset();
    return taken;
  }
  bool contains(const K& key) const {
    guard g(domain_);
    return look(g, key) != nullptr;
  }
  std::optional<V> get(const K& key) const {
    guard g(domain_);
    const node* const n = look(g, key);
    return n == nullptr ? std::nullopt : std::optional<V>(n->value);
  }

  // For a map at rest.
  template <class F>
  void for_each_quiescent(F&& f) const {
    for (const node* n = first_[0].load(order::acquire).pointer(); n != nullptr;) {  // sync: skip-link
      const word next = n->next(0).load(order::acquire);                             // sync: skip-link, skip-mark
      if (!next.has(mark)) f(n->key, n->value);
      n = next.pointer();
    }
  }
  // In each lane only nodes that are in the map, all of them that are so high, by their keys.
  void validate() const {
    std::array<std::size_t, lanes> expected{}, there{};
    for (unsigned lane = 0; lane != lanes; ++lane) {
      const node* last = nullptr;
      for (const node* n = first_[lane].load(order::relaxed).pointer(); n != nullptr;) {
        const word next = n->next(lane).load(order::relaxed);
        must(!next.has(mark) && n->height > lane && n->hands.load(order::relaxed) == 1);
        must(last == nullptr || last->key < n->key);
        ++there[lane];
        if (lane == 0) {
          for (unsigned i = 0; i != n->height; ++i) ++expected[i];
        }
        last = n;
        n = next.pointer();
      }
    }
    must(expected == there);
  }

 private:
  using guard = typename R::template guard<1>;

  // For each lane the link that leads to the first node whose key is not less, and what it holds.
  struct places {
    link* from[lanes];
    word at[lanes];
  };

  // Unlinks what is marked on its way. `Past`: and among nodes of the key itself, in every lane from the last that is less.
  template <bool Past = false>
  bool find(guard& g, const K& key, places& p) const {
  again:
    node* less = nullptr;  // where to go down: the last node whose key is less; null: the heads
    for (unsigned lane = lanes; lane-- != 0;) {
      link* to = less == nullptr ? &first_[lane] : &less->next(lane);
      word at = g.protect(0, *to);
      if (at.has(mark)) goto again;  // that node has been removed
      while (node* const n = at.pointer()) {
        const word after = g.protect(0, n->next(lane));
        if (after.has(mark)) {
          const word rest = after.without(mark);
          if (!to->cas(at, rest, order::acq_rel, order::relaxed)) goto again;  // sync: skip-link
          at = rest;
        } else if (n->key < key || (Past && !(key < n->key))) {
          if (n->key < key) less = n;
          to = &n->next(lane);
          at = after;
        } else {
          break;
        }
      }
      p.from[lane] = to;
      p.at[lane] = at;
    }
    const node* const n = p.at[0].pointer();
    return n != nullptr && !(key < n->key);
  }

  // Passes marked nodes, but goes down from none: its lower links may be older than this call. One that is not marked in
  // its lane is in the map.
  const node* look(guard& g, const K& key) const {
    static_assert(R::info.protects == decltype(R::info.protects)::region,
                  "it reads on from nodes that are unlinked");
    const node* less = nullptr;
    for (unsigned lane = lanes;;) {
      --lane;
      word at = g.protect(0, less == nullptr ? first_[lane] : less->next(lane));
      while (const node* const n = at.pointer()) {
        const word after = g.protect(0, n->next(lane));
        if (!(n->key < key)) {
          if (lane != 0) break;
          return key < n->key || after.has(mark) ? nullptr : n;
        }
        if (!after.has(mark)) less = n;
        at = after;
      }
      if (lane == 0) return nullptr;
    }
  }

  // Lanes above the lowest, as long as the node is not marked there. Its own links need no order until it is in the lane: who
  // marks one looks at nothing behind it, and who passes one has come by the CAS that links the node, which is later.
  void link_others(guard& g, node& n, places& p) {
    for (unsigned lane = 1; lane != n.height; ++lane) {
      for (;;) {
        word next = n.next(lane).load(order::relaxed);
        if (next.has(mark)) return;
        if (next != p.at[lane]) {
          if (!n.next(lane).cas(next, p.at[lane], order::relaxed, order::relaxed)) return;
        }
        if (p.from[lane]->cas(p.at[lane], word(&n), order::acq_rel, order::relaxed)) break;  // sync: skip-link
        find(g, n.key, p);
        if (p.at[0].pointer() != &n) return;  // it is removed: who did so marks the other links
      }
    }
  }

  // Calls taken(value) before it removes it, or finds that another did; if it throws, nothing has happened.
  template <class F>
  bool remove(const K& key, F&& taken) {
    guard g(domain_);
    places p;
    if (!find(g, key, p)) return false;
    node* const n = p.at[0].pointer();
    taken(n->value);
    // In these lanes a mark needs no order: a key is gone when its lowest link is marked, and that is later. Nothing behind
    // the link is looked at, and who passes it acquires from who linked that: a CAS goes on with a release sequence.
    for (unsigned lane = n->height; lane-- != 1;) {
      word next = n->next(lane).load(order::relaxed);
      while (!next.has(mark) && !n->next(lane).cas(next, next.with(mark), order::relaxed, order::relaxed)) {
      }
    }
    word next = n->next(0).load(order::acquire);  // sync: skip-link, skip-mark
    do {
      if (next.has(mark)) return false;  // another was first: its removal lies within this call
    } while (!n->next(0).cas(next, next.with(mark), order::acq_rel, order::acquire));  // sync: skip-mark
    if (!let_go(g, n)) find(g, key, p);
    return true;
  }

  // True: it was the second to do so. After that n may be gone.
  bool let_go(guard& g, node* n) {
    if (n->hands.fetch_sub(1, order::acq_rel) != 1) return false;  // sync: skip-let-go
    places p;
    find<true>(g, n->key, p);
    with_tower(n, [&](auto* t) { g.retire(t); });
    return true;
  }

  // --- towers

  // Calls f(address of the tower that n is).
  template <class F>
  static void with_tower(node* n, F&& f) {
    if (n->height <= 1) f(static_cast<tower<1>*>(n));
    else if (n->height <= 2) f(static_cast<tower<2>*>(n));
    else if (n->height <= 4) f(static_cast<tower<4>*>(n));
    else f(static_cast<tower<lanes>*>(n));
  }
  static node* make(guard& g, const K& key, const V& value) {
    const unsigned height = Heights::draw();
    if (height <= 1) return g.template make<tower<1>>(key, value, height);
    if (height <= 2) return g.template make<tower<2>>(key, value, height);
    if (height <= 4) return g.template make<tower<4>>(key, value, height);
    return g.template make<tower<lanes>>(key, value, height);
  }

  typename R::domain& domain_;
  mutable link first_[lanes];  // of each lane; like the links of towers, but never marked
};

}  // namespace polder::ds
