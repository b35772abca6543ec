#pragma once
// marked_list — a sorted list of nodes behind one word: what list_set has one of and hash_map many.
//
//   paper      Michael, "High performance dynamic lock-free hash tables and list-based sets", SPAA 2002, fig. 7 to 9; the
//              mark in the link is Harris', DISC 2001
//   progress   insert, erase: lock-free; find repeats only when another thread changed the list. look: wait-free in a
//              list that does not grow, where the reclaimer protects regions; else as find
//   in malloc  no: insert allocates
//   deviation  insert makes its node only when it has seen that the key is absent; find() does not look once more at
//              the word it came from, which the marks make needless; look() walks past marked nodes where they stay
//              readable; where searches are read phases, find() goes back to the beginning behind what it unlinked
//
// States of a node. An arrow is one successful CAS; in brackets, what the thread that made it owes.
//
//              insert                 mark [unlink, or find until another did]       unlink [retire]
//     made ─────────────▶ linked ──────────────────────────▶ marked ──────────────────────────▶ unlinked
//
// Invariant: keys grow strictly along the links; a marked link never changes again, so a marked node's predecessor is the
// one word that can unlink it. The map is the nodes that are linked and not marked: the mark is the moment of removal.
//
// Why a protected pointer is safe: protect() proves that the link held the successor once the slot was visible. A link without
// a mark is that of a node that is still linked, so the successor was in the list. One with a mark proves nothing; but
// then the next step is a CAS of the word before, which succeeds only while the node is linked, and with it what its
// marked link will hold for ever. Hence unlinking must follow marking, and nobody may pass a marked node otherwise.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <polder/base/check.hpp>
#include <polder/base/config.hpp>
#include <polder/ds/tree/reading.hpp>
#include <polder/sync/atomic.hpp>
#include <polder/sync/marked_pointer.hpp>

namespace polder::ds {

enum class list_node_state : std::uint8_t { made, linked, marked, unlinked };

constexpr bool legal(list_node_state from, list_node_state to) { return int(to) == int(from) + 1; }

template <class K, class V, class R>
struct marked_list {
  struct node;
  using word = marked_pointer<node, 1>;
  static constexpr std::uintptr_t mark = 1;

  struct node : R::header {
    node(const K& k, const V& v) : key(k), value(v) {}

    // next — the following node, and whether this one is removed.
    //   written by  who made the node, before it is linked; then by CAS: who links or unlinks its successor, who marks it
    //   read by     every thread that passes
    //   order       list-link: the CAS that links a node publishes what is in it; unlinking hands the successor on.
    //               list-mark: who finds the key gone, and inserts it again, comes after the removal
    //   ABA         a node that is protected is not used again, so a word that leads to it is the same word as before
    atomic<word> next;
    const K key;                          // written before the node is linked
    [[no_unique_address]] const V value;  // the same
  };

  using head = atomic<word>;  // written and read as node::next, but never marked
  using guard = typename R::template guard<3>;

  // Where a key is, or would be. Readable until the guard is used for the next search.
  struct place {
    atomic<word>* from;  // the word that leads to `at`
    word at;             // first node whose key is not less; or null
    word after;          // its link
  };

  // Unlinks the marked nodes it meets. In a read phase nothing is written: it stops at each, and begins anew behind it.
  static bool find(guard& g, head& first, const K& key, place& p) {
    for (;;) {
      p = read(g, [&](auto& r) {
        return walk(r, first, key, [&]([[maybe_unused]] place& at) {
          if constexpr (restarts<R>) return false;
          else return unlink(g, at);
        });
      });
      if (!p.after.has(mark)) return p.at.pointer() != nullptr && !(key < p.at.pointer()->key);
      if constexpr (restarts<R>) unlink(g, p);
    }
  }

  // To the place of the key; or to a marked node that pass(place) has not unlinked: then `after` has the mark. Reserves
  // the node of `from` and `at`.
  template <class View, class Pass>
  [[gnu::always_inline]] static place walk(View& r, head& first, const K& key, Pass&& pass) {
    unsigned before = 0, here = 1, next = 2;  // the guard's slots
    [[maybe_unused]] const node* owner = nullptr;
    place p{&first, r.protect(here, first), word()};
    while (node* const n = p.at.pointer()) {
      p.after = r.protect(next, n->next);
      if (!p.after.has(mark)) {
        if (!(n->key < key)) break;
        owner = n;
        p.from = &n->next;
        const unsigned free = before;
        before = here, here = next, next = free;
        p.at = p.after;
      } else {
        if (!pass(p)) break;
        std::swap(here, next);
        p.at = p.after = p.after.without(mark);
      }
    }
    reserve(r, 0, owner);
    reserve(r, 1, p.at.pointer());
    return p;
  }

  // The marked node at p. False: the word before it changed.
  static bool unlink(guard& g, const place& p) {
    word expected = p.at;
    if (!p.from->cas(expected, p.after.without(mark), order::acq_rel, order::relaxed))
      return false;  // sync: list-link
    g.retire(p.at.pointer());
    return true;
  }

  // The node with the key, or null; writes nothing where it need not.
  static const node* look(guard& g, head& first, const K& key) {
    if constexpr (searches_by_region<R>) {
      return read(g, [&first, &key](auto& r) -> const node* {
        word at = r.protect(0, first);
        while (node* const n = at.pointer()) {
          const word after = r.protect(0, n->next);
          if (!(n->key < key)) {
            if (key < n->key || after.has(mark)) return nullptr;
            reserve(r, 0, n);
            return n;
          }
          at = after;
        }
        return nullptr;
      });
    } else {
      place p;
      return find(g, first, key, p) ? p.at.pointer() : nullptr;
    }
  }

  static bool insert(guard& g, head& first, const K& key, const V& value) {
    place p;
    if (find(g, first, key, p)) return false;
    node* const made = g.template make<node>(key, value);
    for (;;) {
      made->next.store(p.at, order::relaxed);
      if (p.from->cas(p.at, word(made), order::release, order::relaxed)) return true;  // sync: list-link
      if (find(g, first, key, p)) {
        g.unmake(made);
        return false;
      }
    }
  }

  // Calls taken(value) before each attempt; if it throws, nothing has happened. A node's value never changes, so what the
  // attempt that succeeds removes is what it was called with last.
  template <class F>
  static bool erase(guard& g, head& first, const K& key, F&& taken) {
    place p;
    do {
      if (!find(g, first, key, p)) return false;
      taken(p.at.pointer()->value);
    } while (
        !p.at.pointer()->next.cas(p.after, p.after.with(mark), order::acq_rel, order::relaxed));  // sync: list-mark
    node* const n = p.at.pointer();
    if (p.from->cas(p.at, p.after, order::acq_rel, order::relaxed)) {  // sync: list-link
      g.retire(n);
    } else {
      find(g, first, key, p);  // which unlinks it, unless another did
    }
    return true;
  }

  // What follows is for a list at rest: nobody changes it meanwhile.

  // Calls f(node) for each that is not marked, by their keys.
  template <class F>
  static void each(const head& first, F&& f) {
    for (const node* n = first.load(order::acquire).pointer(); n != nullptr;) {  // sync: list-link
      const word next = n->next.load(order::acquire);                            // sync: list-link, list-mark
      if (!next.has(mark)) f(*n);
      n = next.pointer();
    }
  }

  static void validate(const head& first) {
    must(!first.load(order::relaxed).has(mark));
    const node* last = nullptr;
    for (const node* n = first.load(order::relaxed).pointer(); n != nullptr;
         n = n->next.load(order::relaxed).pointer()) {
      must(last == nullptr || last->key < n->key);
      must(!n->next.load(order::relaxed).has(mark));  // who marked it has unlinked it, or found that another did
      last = n;
    }
  }

  static void clear(guard& g, head& first) {
    node* n = first.load(order::acquire).pointer();  // sync: list-link
    while (n != nullptr) {
      node* const next = n->next.load(order::acquire).pointer();  // sync: list-link
      g.unmake(n);
      n = next;
    }
    first.store(word(), order::relaxed);
  }
};

}  // namespace polder::ds
