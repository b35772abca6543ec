#pragma once
// ellen_bst — a binary tree with all keys in its leaves; who is in the way is helped.
//
//   paper      Ellen, Fatourou, Ruppert, van Breugel, "Non-blocking binary search trees", PODC 2010; the names are its
//   progress   insert, erase: lock-free; contains, get: as deep as the tree, which nothing balances
//   in malloc  no: updates allocate
//   deviation  the paper leaves reclamation to a collector. Here: who takes the flag away retires what hung
//              there, leaf and parent; a record is retired by who takes away the last that names it, see `names`
//
// States of an inner node. An arrow is one successful CAS of its update word; in brackets, what its thread owes, and
// whoever sees it in between does in its place.
//
//                       iflag [ichild, iunflag]
//           ┌────────────────────────────────────────▶ to insert ──┐ iunflag
//           │           dflag [mark the parent]                    │
//         clean ─────────────────────────────────────▶ to delete ──┤ dunflag, after dchild; or backtrack, if the parent
//         │ ▲                                                      │ could not be marked
//         │ └──────────────────────────────────────────────────────┘
//         └─────────▶ marked, for good     mark [dchild, dunflag]: only while the grandparent is flagged for it
//
// Invariant: each inner node has two children; keys left of it are less than its own, those right of it are not. A child
// changes only while its node is flagged. A record is named by the update word of one node in the tree (its p of an
// insertion, its gp of a deletion), by that of a marked node that is in it no longer, or soon will not be, and by each
// deletion that expects it at its p.
//
// Why a region: a helper walks from a node to its record and on to nodes that have been unlinked since.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <vector>

#include <polder/base/check.hpp>
#include <polder/base/config.hpp>
#include <polder/ds/suits.hpp>
#include <polder/ds/tree/map_info.hpp>
#include <polder/sync/atomic.hpp>
#include <polder/sync/marked_pointer.hpp>

namespace polder::ds {

enum class bst_state : std::uint8_t { clean, to_insert, to_delete, marked };

constexpr bool legal(bst_state from, bst_state to) {
  switch (from) {
    case bst_state::clean: return to != bst_state::clean;
    case bst_state::to_insert:
    case bst_state::to_delete: return to == bst_state::clean;
    case bst_state::marked: return false;
  }
  return false;
}

template <class K, class V, class R>
class ellen_bst : public counted_at_rest<ellen_bst<K, V, R>> {
 public:
  static constexpr map_info info = {.name = "ellen-bst",
                                    .title = "Non-blocking binary search tree",
                                    .semantics = "ordered map, linearizable",
                                    .readers = "wait-free in a tree that does not grow",
                                    .updaters = "lock-free",
                                    .paper = "Ellen, Fatourou, Ruppert, van Breugel, PODC 2010",
                                    .year = 2010,
                                    .parameters = "",
                                    .protection = needs::region};
  using key_type = K;
  using value_type = V;
  using reclaimer_type = R;

  // A key, or one of the paper's two that are greater than any.
  enum class rank : std::uint8_t { key, infinite1, infinite2 };

  struct node : R::header {
    node(rank r, bool leaf, const K* k) : order_(r), is_leaf(leaf) {
      if (r == rank::key) std::construct_at(std::addressof(key), *k);
    }
    ~node() = default;
    ~node()
      requires(!std::is_trivially_destructible_v<K>)
    {
      if (order_ == rank::key) std::destroy_at(std::addressof(key));
    }
    bool above(const K& k) const { return order_ != rank::key || k < key; }  // k < this
    bool is(const K& k) const { return order_ == rank::key && !(k < key) && !(key < k); }
    const K* known() const { return order_ == rank::key ? std::addressof(key) : nullptr; }

    union {
      K key;
    };
    const rank order_;
    const bool is_leaf;
  };

  struct leaf : node {
    leaf(rank r, const K* k, const V* v) : node(r, true, k) {
      if (v != nullptr) value.emplace(*v);
    }
    std::optional<V> value;  // none in the two of infinite keys
  };
  struct empty_leaf : node {
    empty_leaf(rank r, const K* k, const V*) : node(r, true, k) {}
    static constexpr std::optional<V> value = V{};
  };
  using leaf_type = std::conditional_t<std::is_empty_v<V> && std::is_trivially_copyable_v<V> &&
                                           std::is_trivially_default_constructible_v<V>,
                                       empty_leaf, leaf>;

  struct record;
  using update_word = marked_pointer<record, 2>;  // its marks are a bst_state

  struct inner : node {
    inner(rank r, const K* k, node* left, node* right) : node(r, false, k) {
      child[0].store(left, order::relaxed);
      child[1].store(right, order::relaxed);
    }
    // update — what is being done at this node, or was last.
    //   written by  any thread, by CAS, as drawn above
    //   read by     every update that passes, before it reads the child
    //   order       bst-flag: who reads the flag finds the record written, and comes after all of what was done before
    //   ABA         a clean word names the record of the last operation, which is not used again while a guard is
    //               open that has seen it, nor while a deletion is flagged that expects it: helpers of that have not
    //               seen it themselves. So an equal word means that no child has changed
    atomic<update_word> update;
    // child — left, right.
    //   written by  any thread, by CAS, for the record that the node is flagged with
    //   read by     every thread that passes
    //   order       bst-child: publishes the node that is put there
    //   ABA         an insertion hangs a copy of the leaf that it replaces below the new node, so no pointer comes back
    atomic<node*> child[2];
  };

  // What helpers need. Written before it is flagged, but for names.
  struct record : R::header {
    plain<inner*> p;
    plain<node*> l;
    plain<inner*> gp_or_made;     // gp of a deletion; what an insertion made
    plain<update_word> p_update;  // of a deletion
    // names — how many name it: the update word that was flagged with it, until that is overwritten; each deletion
    // that has it in p_update, until its flag is gone.
    //   written by  who adds one, who takes one away; who takes the last retires it
    //   read by     the same
    //   order       bst-name: who retires it comes after all who have named it
    //   ABA         at 0 it stays
    atomic<std::uint32_t> names{1};
  };

  // Throws std::bad_alloc.
  explicit ellen_bst(typename R::domain& domain) : domain_(domain) {
    static_assert(suits<R>(info), "the reclaimer does not suit the structure: suits.hpp, unsuited");
    guard g(domain_);
    leaf_type* const one = g.template make<leaf_type>(rank::infinite1, nullptr, nullptr);
    leaf_type* two = nullptr;
    try {
      two = g.template make<leaf_type>(rank::infinite2, nullptr, nullptr);
      root_ = g.template make<inner>(rank::infinite2, nullptr, one, two);
    } catch (...) {
      g.unmake(one);
      if (two != nullptr) g.unmake(two);
      throw;
    }
  }
  ellen_bst(const ellen_bst&) = delete;
  ellen_bst& operator=(const ellen_bst&) = delete;
  // Without a stack, however deep: what is left of a node is turned up until there is nothing.
  ~ellen_bst() {
    guard g(domain_);
    inner* at = root_;
    for (;;) {
      node* const left = at->child[0].load(order::acquire);  // sync: bst-child
      if (!left->is_leaf) {
        inner* const low = static_cast<inner*>(left);
        at->child[0].store(low->child[1].load(order::acquire), order::relaxed);  // sync: bst-child
        low->child[1].store(at, order::relaxed);
        at = low;
        continue;
      }
      node* const right = at->child[1].load(order::acquire);  // sync: bst-child
      g.unmake(static_cast<leaf_type*>(left));
      if (record* const last = at->update.load(order::acquire).pointer()) g.unmake(last);  // sync: bst-flag
      g.unmake(at);
      if (right->is_leaf) {
        g.unmake(static_cast<leaf_type*>(right));
        return;
      }
      at = static_cast<inner*>(right);
    }
  }

  // False: the key is there, and keeps its value. Throws std::bad_alloc, and then nothing happened.
  bool insert(const K& key, const V& value = {}) {
    guard g(domain_);
    for (;;) {
      const found f = search(g, key);
      if (f.l->is(key)) return false;
      if (state_of(f.p_update) != bst_state::clean) {
        help(g, f.p_update);
        continue;
      }
      made_nodes made(g);
      record* const op = made.set(f, key, value);
      update_word seen = f.p_update;
      if (f.p->update.cas(seen, word(bst_state::to_insert, op), order::acq_rel,
                          order::acquire)) {  // sync: bst-flag
        made.linked();
        unname(g, seen.pointer());
        help_insert(g, op);
        return true;
      }
      help(g, seen);
    }
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
    return look(g, key)->is(key);
  }
  std::optional<V> get(const K& key) const {
    guard g(domain_);
    const node* const l = look(g, key);
    return l->is(key) ? static_cast<const leaf_type*>(l)->value : std::nullopt;
  }

  // For a map at rest.
  template <class F>
  void for_each_quiescent(F&& f) const {
    std::vector<const node*> rest{root_};
    while (!rest.empty()) {
      const node* const n = rest.back();
      rest.pop_back();
      if (!n->is_leaf) {
        const inner& i = *static_cast<const inner*>(n);
        rest.push_back(i.child[1].load(order::acquire));  // sync: bst-child
        rest.push_back(i.child[0].load(order::acquire));  // sync: bst-child
      } else if (n->known() != nullptr) {
        f(n->key, *static_cast<const leaf_type*>(n)->value);
      }
    }
  }
  void validate() const {
    struct part {
      const node* n;
      const node *least, *less_than;  // null: no bound
    };
    std::vector<part> rest{{root_, nullptr, nullptr}};
    while (!rest.empty()) {
      const auto [n, least, less_than] = rest.back();
      rest.pop_back();
      if (const K* const key = n->known()) {
        must(least == nullptr || least->known() == nullptr || !(*key < least->key));
        must(less_than == nullptr || less_than->above(*key));
      }
      if (n->is_leaf) continue;
      const inner& i = *static_cast<const inner*>(n);
      must(state_of(i.update.load(order::acquire)) == bst_state::clean);  // sync: bst-flag
      rest.push_back({i.child[0].load(order::acquire), least, n});        // sync: bst-child
      rest.push_back({i.child[1].load(order::acquire), n, less_than});    // sync: bst-child
    }
  }

 private:
  using guard = typename R::template guard<1>;

  static update_word word(bst_state s, record* r) noexcept { return update_word(r, std::uintptr_t(s)); }
  static bst_state state_of(update_word w) noexcept { return bst_state(w.marks()); }

  struct found {
    inner *gp, *p;
    node* l;
    update_word gp_update, p_update;
  };

  found search(guard& g, const K& key) const {
    static_assert(R::info.protects == decltype(R::info.protects)::region, "see: why a region");
    found f{nullptr, nullptr, root_, {}, {}};
    do {
      f.gp = f.p;
      f.gp_update = f.p_update;
      f.p = static_cast<inner*>(f.l);
      f.p_update = g.protect(0, f.p->update);  // before the child: a child read later has this update, or a newer
      f.l = g.protect(0, f.p->child[f.p->above(key) ? 0 : 1]);
    } while (!f.l->is_leaf);
    return f;
  }
  const node* look(guard& g, const K& key) const {
    const node* n = root_;
    do {
      n = g.protect(0, static_cast<const inner*>(n)->child[n->above(key) ? 0 : 1]);
    } while (!n->is_leaf);
    return n;
  }

  // What an insertion makes: unmade unless it was flagged.
  class made_nodes {
   public:
    explicit made_nodes(guard& g) noexcept : guard_(g) {}
    made_nodes(const made_nodes&) = delete;
    made_nodes& operator=(const made_nodes&) = delete;
    ~made_nodes() {
      if (op_ != nullptr) guard_.unmake(op_);
      if (top_ != nullptr) guard_.unmake(top_);
      if (sibling_ != nullptr) guard_.unmake(sibling_);
      if (leaf_ != nullptr) guard_.unmake(leaf_);
    }
    record* set(const found& f, const K& key, const V& value) {
      leaf_type* const old = static_cast<leaf_type*>(f.l);
      leaf_ = guard_.template make<leaf_type>(rank::key, std::addressof(key), std::addressof(value));
      const bool left = old->above(key);  // the new one
      sibling_ = guard_.template make<leaf_type>(old->order_, old->known(),
                                                 old->value ? std::addressof(*old->value) : nullptr);
      const node* const greater = left ? static_cast<node*>(sibling_) : leaf_;
      top_ = guard_.template make<inner>(greater->order_, greater->known(), left ? leaf_ : sibling_,
                                         left ? sibling_ : leaf_);
      op_ = guard_.template make<record>();
      op_->p.set(f.p), op_->l.set(f.l), op_->gp_or_made.set(top_);
      return op_;
    }
    void linked() noexcept { op_ = nullptr, top_ = nullptr, sibling_ = leaf_ = nullptr; }

   private:
    guard& guard_;
    record* op_ = nullptr;
    inner* top_ = nullptr;
    leaf_type *sibling_ = nullptr, *leaf_ = nullptr;
  };

  // Calls taken(value) before each attempt.
  template <class F>
  bool remove(const K& key, F&& taken) {
    guard g(domain_);
    for (;;) {
      const found f = search(g, key);
      if (!f.l->is(key)) return false;
      if (state_of(f.gp_update) != bst_state::clean) {
        help(g, f.gp_update);
        continue;
      }
      if (state_of(f.p_update) != bst_state::clean) {
        help(g, f.p_update);
        continue;
      }
      taken(*static_cast<leaf_type*>(f.l)->value);
      record* const op = g.template make<record>();
      op->gp_or_made.set(f.gp), op->p.set(f.p), op->l.set(f.l), op->p_update.set(f.p_update);
      if (!name(f.p_update.pointer())) {
        g.unmake(op);
        continue;
      }
      update_word seen = f.gp_update;
      if (f.gp->update.cas(seen, word(bst_state::to_delete, op), order::acq_rel,
                           order::acquire)) {  // sync: bst-flag
        unname(g, seen.pointer());
        if (help_delete(g, op)) return true;
      } else {
        unname(g, f.p_update.pointer());
        g.unmake(op);
        help(g, seen);
      }
    }
  }

  // For a deletion that expects r at its p. False: the word there has been overwritten, and r is retired.
  static bool name(record* r) noexcept {
    if (r == nullptr) return true;
    std::uint32_t now = r->names.load(order::relaxed);
    while (now != 0) {
      if (r->names.cas(now, now + 1, order::relaxed, order::relaxed)) return true;
    }
    return false;
  }
  static void unname(guard& g, record* r) {
    if (r != nullptr && r->names.fetch_sub(1, order::acq_rel) == 1) g.retire(r);  // sync: bst-name
  }

  void help(guard& g, update_word w) {
    switch (state_of(w)) {
      case bst_state::clean: return;
      case bst_state::to_insert: return help_insert(g, w.pointer());
      case bst_state::to_delete: help_delete(g, w.pointer()); return;
      case bst_state::marked: return help_marked(g, w.pointer());
    }
  }

  // Does nothing where it was done already. `old` hung there.
  static void swing(inner* parent, node* old, node* by) noexcept {
    const K* const key = by->known();
    const unsigned side = key != nullptr ? (parent->above(*key) ? 0 : 1) : (by->order_ < parent->order_ ? 0 : 1);
    parent->child[side].cas(old, by, order::acq_rel, order::relaxed);  // sync: bst-child
  }
  // True: this call did it, and so retires what op took out of the tree, and of a deletion takes its name from what it expected.
  // Not before: whoever finds the flag, however late, goes from op to those nodes, and compares with that.
  static bool unflag(inner* n, bst_state from, record* op) noexcept {
    update_word flagged = word(from, op);
    return n->update.cas(flagged, word(bst_state::clean, op), order::acq_rel, order::relaxed);  // sync: bst-flag
  }

  void help_insert(guard& g, record* op) {
    inner* const p = op->p.get();
    node* const l = op->l.get();
    swing(p, l, op->gp_or_made.get());
    if (unflag(p, bst_state::to_insert, op)) g.retire(static_cast<leaf_type*>(l));
  }

  bool help_delete(guard& g, record* op) {
    const update_word marked = word(bst_state::marked, op);
    update_word seen = op->p_update.get();
    if (op->p.get()->update.cas(seen, marked, order::acq_rel, order::acquire)) {  // sync: bst-flag
      unname(g, seen.pointer());
      help_marked(g, op);
      return true;
    }
    if (seen == marked) {
      help_marked(g, op);
      return true;
    }
    help(g, seen);
    // Backtrack.
    if (unflag(op->gp_or_made.get(), bst_state::to_delete, op)) unname(g, op->p_update.get().pointer());
    return false;
  }

  void help_marked(guard& g, record* op) {
    inner *const gp = op->gp_or_made.get(), *const p = op->p.get();
    node* const l = op->l.get();
    // p is marked, and who comes here has acquired that: its children stay as they are. Who took a flag from p before had seen
    // what hung there then, and knew it, and released both with the flag; so these loads need no order.
    const unsigned side = p->child[0].load(order::relaxed) == l ? 1 : 0;
    swing(gp, p, p->child[side].load(order::relaxed));
    if (unflag(gp, bst_state::to_delete, op)) {
      unname(g, op->p_update.get().pointer());
      g.retire(p);
      g.retire(static_cast<leaf_type*>(l));
    }
  }

  typename R::domain& domain_;
  inner* root_ = nullptr;  // never replaced
};

}  // namespace polder::ds
