#pragma once
// occ_avl — an AVL tree with a lock in each node, that readers pass without taking any.
//
//   paper      Bronson, Casper, Chafi, Olukotun, "A practical concurrent binary search tree", PPoPP 2010; the names of the
//              rebalancing steps are its
//   progress   blocking: an update waits for who holds its node's lock, a reader for a node that is being rotated down;
//              who waits long sleeps, so that the holder gets the processor
//   in malloc  no: insert allocates
//   deviation  who meets a change begins again at the root instead of one node above; growing is not announced (it
//              misleads nobody); the value is a word with a stamp beside it, so that it is not allocated; a rotation has all its nodes
//              looked at again, the paper's one of them, which leaves some out of balance
//
// Partially external: erasing a key with two children leaves its node as a signpost without a value, which is unlinked
// when it has one child or none.
//
// States of a node. What changes them holds its lock; in brackets, what it owes.
//
//           link                     begin shrinking [rotate, end it]
//     made ───────▶ settled ◀──────────────────────────────────────────▶ shrinking
//                      │                                                 some keys that were below it are not any more
//                      │ unlink, when it has no value and at most one child
//                      ▼ [retire]
//                   unlinked
//
// Hand over hand: a reader at `node`, entered at version v, reads a child; the child's version; that it is still the child; and
// that node still has version v. So when both versions were read, the key could be nowhere but below the child.
//
// Invariants: keys left of a node are less than its own, right of it greater; at rest heights are true and differ by one at
// most, and every signpost has two children. Locks are taken downwards only: no deadlock.
//
// Why a region: a reader goes on from nodes that have been unlinked, until it looks at a version.
#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <polder/base/check.hpp>
#include <polder/base/config.hpp>
#include <polder/ds/parts/sleeping_lock.hpp>
#include <polder/ds/suits.hpp>
#include <polder/ds/tree/map_info.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

// What an atomic can hold that the processor reads whole: not a value of three bytes, nor one that is never assigned or is
// made from something only.
template <class V>
inline constexpr bool fits_a_word =
    std::is_trivially_copyable_v<V> && std::has_single_bit(sizeof(V)) && sizeof(V) <= 8 && std::semiregular<V>;

// The value of a node in one word: itself where it fits, or in a box of its own, or nowhere.
template <class V, class R>
class value_cell {
  struct box : R::header {
    explicit box(const V& v) : value(v) {}
    const V value;
  };

 public:
  using token = box*;
  template <class Guard>
  static token prepare(Guard& g, const V& v) {
    return g.template make<box>(v);
  }
  template <class Guard>
  static void discard(Guard& g, token t) {
    g.unmake(t);
  }
  // As the owner of the lock.
  void set(token t) noexcept { box_.store(t, order::release); }  // sync: avl-value
  // Without locks: it may free others, and their destructors may come back to the tree.
  template <class Guard>
  static void retire(Guard& g, token t) {
    g.retire(t);
  }
  token seen() const noexcept { return box_.load(order::acquire); }  // sync: avl-value
  static const V& read(const token& t) noexcept { return t->value; }

 private:
  // box_: written under the node's lock; read by all, which look at the stamp before and after. avl-value: the box is
  // whole, and the stamp is as old as the box at least.
  atomic<box*> box_{nullptr};
};

template <class V, class R>
  requires(fits_a_word<V> && !std::is_empty_v<V>)
class value_cell<V, R> {
 public:
  using token = V;
  template <class Guard>
  static token prepare(Guard&, const V& v) noexcept {
    return v;
  }
  template <class Guard>
  static void discard(Guard&, const token&) noexcept {}
  void set(const token& v) noexcept { value_.store(v, order::release); }  // sync: avl-value
  template <class Guard>
  static void retire(Guard&, const token&) noexcept {}
  token seen() const noexcept { return value_.load(order::acquire); }  // sync: avl-value
  static const V& read(const token& t) noexcept { return t; }

 private:
  atomic<V> value_;  // as box_ above
};

template <class V, class R>
  requires(std::is_empty_v<V> && std::semiregular<V>)
class value_cell<V, R> {
 public:
  using token = V;
  template <class Guard>
  static token prepare(Guard&, const V&) noexcept {
    return token();
  }
  template <class Guard>
  static void discard(Guard&, token) noexcept {}
  void set(token) noexcept {}
  template <class Guard>
  static void retire(Guard&, token) noexcept {}
  token seen() const noexcept { return token(); }
  static V read(token) noexcept { return V(); }
};

template <class K, class V, class R>
class occ_avl : public counted_at_rest<occ_avl<K, V, R>> {
 public:
  static constexpr map_info info = {.name = "occ-avl",
                                    .title = "AVL tree with optimistic validation",
                                    .semantics = "ordered map, linearizable",
                                    .readers = "blocking, by rotations of the nodes they pass",
                                    .updaters = "blocking",
                                    .paper = "Bronson, Casper, Chafi, Olukotun, PPoPP 2010",
                                    .year = 2010,
                                    .parameters = "",
                                    .protection = needs::region};
  using key_type = K;
  using value_type = V;
  using reclaimer_type = R;

  struct node;
  // A node without key and value: what hangs above the root is one.
  struct spot : R::header {
    // child, parent, height
    //   written by  who holds the lock: of this node for child and height; of the parent (both, when it changes) for parent
    //   read by     all
    //   order       avl-link: publishes the node that is linked; and the version that announces a rotation, which is
    //               written before, so that who reads a rotated child finds the version changed.
    //               avl-hand-over: who changes the height of a node holds its lock, but not its parent's; who gives it another
    //               parent holds the parents' locks, but not its own. The one stores height, then loads parent, which it
    //               will mend; the other stores parent, then loads height. In the one order of these four the later
    //               load sees the other's store: so who changed the height mends the new parent, or who moved the node
    //               reckons with its new height
    atomic<node*> child[2];
    atomic<spot*> parent{nullptr};
    // version — how often keys have left the subtree.
    //   written by  who holds the lock
    //   read by     all
    //   order       avl-version: who reads that it is settled again reads what the rotation wrote
    //   ABA         it only grows
    atomic<std::uint64_t> version{0};
    // stamp — odd: the node has a value.
    //   written by  who holds the lock
    //   read by     all
    //   order       avl-stamp: whoever finds the key, or finds it gone, comes after who put it there, or erased it
    //   ABA         2^31 insertions of one key between two looks at it
    atomic<std::uint32_t> stamp{0};
    atomic<std::int32_t> height{1};
    sleeping_lock lock;
  };
  struct node : spot {
    explicit node(const K& k) : key(k) {}
    const K key;  // written before the node is linked
    [[no_unique_address]] value_cell<V, R> value;
  };

  explicit occ_avl(typename R::domain& domain) noexcept : domain_(domain) {
    static_assert(suits<R>(info), "the reclaimer does not suit the structure: suits.hpp, unsuited");
  }
  occ_avl(const occ_avl&) = delete;
  occ_avl& operator=(const occ_avl&) = delete;
  // Without a stack: children first, and up by the parents.
  ~occ_avl() {
    guard g(domain_);
    for (spot* at = &top_;;) {
      node* const left = at->child[0].load(order::acquire);   // sync: avl-link
      node* const right = at->child[1].load(order::acquire);  // sync: avl-link
      if (node* const below = left != nullptr ? left : right) {
        at->child[left != nullptr ? 0 : 1].store(nullptr, order::relaxed);
        at = below;
        continue;
      }
      if (at == &top_) return;
      node* const gone = static_cast<node*>(at);
      at = at->parent.load(order::relaxed);
      if (has_value(*gone)) cell::discard(g, gone->value.seen());
      g.unmake(gone);
    }
  }

  // False: the key is there, and keeps its value. Throws std::bad_alloc, and then nothing happened.
  bool insert(const K& key, const V& value = {}) {
    guard g(domain_);
    pending p(g, key, value);
    for (;;) {
      const where w = descend(g, key);
      const outcome o = w.found == nullptr ? attach(g, w, p) : revive(*w.found, p);
      if (o != outcome::again) return o == outcome::yes;
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
    const node* const n = descend(g, key).found;
    return n != nullptr && has_value(*n);
  }
  std::optional<V> get(const K& key) const {
    guard g(domain_);
    const node* const n = descend(g, key).found;
    if (n == nullptr) return std::nullopt;
    for (;;) {
      const std::uint32_t before = n->stamp.load(order::acquire);  // sync: avl-stamp
      if (before % 2 == 0) return std::nullopt;
      const typename cell::token value = n->value.seen();
      if (n->stamp.load(order::relaxed) == before) return std::optional<V>(cell::read(value));
    }
  }

  // For a map at rest.
  template <class F>
  void for_each_quiescent(F&& f) const {
    walk([&](const node& n) {
      if (has_value(n)) f(n.key, cell::read(n.value.seen()));
    });
  }
  void validate() const {
    const node* last = nullptr;
    walk([&](const node& n) {
      must(last == nullptr || last->key < n.key);
      last = &n;
      must(settled(n.version.load(order::acquire)));  // sync: avl-version
      const node *l = left(n), *r = right(n);
      for (const node* c : {l, r}) must(c == nullptr || c->parent.load(order::relaxed) == &n);
      must(has_value(n) || (l != nullptr && r != nullptr));
      must(height(&n) == 1 + std::max(height(l), height(r)) && std::abs(height(l) - height(r)) <= 1);
    });
  }

 private:
  using guard = typename R::template guard<1>;
  using cell = value_cell<V, R>;
  enum class outcome : std::uint8_t { no, yes, again };

  // --- versions

  static constexpr std::uint64_t unlinked = 1, shrinking = 2, one_more = 4;
  static constexpr bool settled(std::uint64_t version) noexcept { return (version & (unlinked | shrinking)) == 0; }
  static bool is_unlinked(const spot& s) noexcept {
    return (s.version.load(order::acquire) & unlinked) != 0;  // sync: avl-version
  }
  static void begin_shrinking(spot& s) noexcept {
    s.version.store(s.version.load(order::relaxed) | shrinking, order::release);  // sync: avl-version
  }
  static void end_shrinking(spot& s) noexcept {
    s.version.store((s.version.load(order::relaxed) & ~shrinking) + one_more, order::release);  // sync: avl-version
  }
  // Returns when a rotation that was seen has ended, or a node that is on its way out has gone from its parent; asleep, if it takes
  // long: who does it has the lock.
  static void wait_until_settled(spot& s) noexcept {
    for (unsigned spins = 0; spins != 100; ++spins) {
      if (settled(s.version.load(order::acquire))) return;  // sync: avl-version
    }
    const holding until_it_is_free(s.lock);
  }

  static bool has_value(const node& n) noexcept {
    const std::uint32_t stamp = n.stamp.load(order::acquire);  // sync: avl-stamp
    return stamp % 2 != 0;
  }
  static node* left(const spot& s) noexcept { return s.child[0].load(order::acquire); }   // sync: avl-link
  static node* right(const spot& s) noexcept { return s.child[1].load(order::acquire); }  // sync: avl-link
  static std::int32_t height(const node* n) noexcept {
    if (n == nullptr) return 0;
    return n->height.load(order::seq_cst);  // sync: avl-hand-over: store of parent, load of height
  }

  // --- the way down

  struct where {
    node* found;            // the key's node; or null:
    spot* parent;           // where it would hang,
    unsigned side;          // on which side,
    std::uint64_t version;  // as of which version
  };
  where descend(guard& g, const K& key) const {
    static_assert(R::info.protects == decltype(R::info.protects)::region, "see: why a region");
  again:
    where w{nullptr, &top_, 1, 0};
    for (;;) {
      node* const child = g.protect(0, w.parent->child[w.side]);
      if (child == nullptr) {
        if (w.parent->version.load(order::acquire) != w.version) goto again;  // sync: avl-version
        return w;
      }
      const bool less = key < child->key;
      if (!less && !(child->key < key)) {
        w.found = child;
        return w;
      }
      const std::uint64_t version = child->version.load(order::acquire);  // sync: avl-version
      if (!settled(version)) {
        wait_until_settled(*child);
      } else if (g.protect(0, w.parent->child[w.side]) == child) {
        if (w.parent->version.load(order::acquire) != w.version) goto again;  // sync: avl-version
        w = {nullptr, child, less ? 0u : 1u, version};
        continue;
      }
      if (w.parent->version.load(order::acquire) != w.version) goto again;  // sync: avl-version
    }
  }

  // --- updates

  // What an insertion brings; unmade unless it was used.
  class pending {
   public:
    pending(guard& g, const K& key, const V& value) noexcept : guard_(g), key_(key), value_(value) {}
    pending(const pending&) = delete;
    pending& operator=(const pending&) = delete;
    ~pending() {
      if (node_ != nullptr) guard_.unmake(node_);
      if (prepared_) cell::discard(guard_, token_);
    }
    void prepare_value() {
      if (prepared_) return;
      token_ = cell::prepare(guard_, value_);
      prepared_ = true;
    }
    void prepare_node() {
      prepare_value();
      if (node_ == nullptr) node_ = guard_.template make<node>(key_);
    }
    // With the lock of n, which is held or nobody's yet.
    void give_value(node& n) noexcept {
      n.value.set(token_);
      prepared_ = false;
      n.stamp.store(n.stamp.load(order::relaxed) + 1, order::release);  // sync: avl-stamp
    }
    node& give_node() noexcept {
      give_value(*node_);
      return *std::exchange(node_, nullptr);
    }

   private:
    guard& guard_;
    const K& key_;
    const V& value_;
    typename cell::token token_{};
    bool prepared_ = false;
    node* node_ = nullptr;
  };

  outcome attach(guard& g, const where& w, pending& p) {
    p.prepare_node();
    worklist todo;
    {
      const holding l(w.parent->lock);
      if (w.parent->version.load(order::relaxed) != w.version ||
          w.parent->child[w.side].load(order::relaxed) != nullptr)
        return outcome::again;
      node& n = p.give_node();
      n.parent.store(w.parent, order::relaxed);
      w.parent->child[w.side].store(&n, order::release);  // sync: avl-link
      if (fix_height(*w.parent, todo) == need::step) todo.push(*w.parent);
    }
    mend(g, todo);
    return outcome::yes;
  }

  outcome revive(node& n, pending& p) {
    if (has_value(n)) return outcome::no;
    p.prepare_value();
    const holding l(n.lock);
    if (is_unlinked(n)) return outcome::again;
    if (has_value(n)) return outcome::no;
    p.give_value(n);
    return outcome::yes;
  }

  // Calls taken(value) before each attempt to erase it.
  template <class F>
  bool remove(const K& key, F&& taken) {
    guard g(domain_);
    for (;;) {
      node* const n = descend(g, key).found;
      if (n == nullptr || !has_value(*n)) return false;
      const outcome o = left(*n) != nullptr && right(*n) != nullptr ? blank(g, *n, taken) : cut(g, *n, taken);
      if (o != outcome::again) return o == outcome::yes;
    }
  }
  // With the lock; what it returns is to be retired without.
  template <class F>
  typename cell::token erase_value(node& n, F&& taken) {
    const typename cell::token value = n.value.seen();
    taken(cell::read(value));
    n.stamp.store(n.stamp.load(order::relaxed) + 1, order::release);  // sync: avl-stamp
    return value;
  }
  // Leaves a signpost.
  template <class F>
  outcome blank(guard& g, node& n, F&& taken) {
    typename cell::token value{};
    {
      const holding l(n.lock);
      if (is_unlinked(n)) return outcome::again;
      if (!has_value(n)) return outcome::no;
      if (left(n) == nullptr || right(n) == nullptr) return outcome::again;
      value = erase_value(n, taken);
    }
    cell::retire(g, value);
    return outcome::yes;
  }
  template <class F>
  outcome cut(guard& g, node& n, F&& taken) {
    spot* const parent = n.parent.load(order::acquire);  // sync: avl-link
    typename cell::token value{};
    worklist todo;
    {
      const holding l(parent->lock);
      if (is_unlinked(*parent) || n.parent.load(order::relaxed) != parent) return outcome::again;
      const holding m(n.lock);
      if (is_unlinked(n)) return outcome::again;
      if (!has_value(n)) return outcome::no;
      if (left(n) != nullptr && right(n) != nullptr) return outcome::again;
      value = erase_value(n, taken);
      unlink(*parent, n);
      if (fix_height(*parent, todo) == need::step) todo.push(*parent);
    }
    cell::retire(g, value);
    g.retire(&n);
    mend(g, todo);
    return outcome::yes;
  }
  // With both locks; n has no value and at most one child.
  static void unlink(spot& parent, node& n) noexcept {
    node* const rest = left(n) != nullptr ? left(n) : right(n);
    n.version.store(n.version.load(order::relaxed) | unlinked, order::release);  // sync: avl-version
    hang(parent, left(parent) == &n ? 0 : 1, rest);
  }
  static void hang(spot& parent, unsigned side, node* n) noexcept {
    parent.child[side].store(n, order::release);  // sync: avl-link
    if (n != nullptr)
      n->parent.store(&parent, order::seq_cst);  // sync: avl-link, avl-hand-over: store of parent, load of height
  }

  // --- balance

  enum class need : std::uint8_t { nothing, height, step };
  struct condition {
    need what;
    std::int32_t height;
  };
  condition of(const spot& s) const noexcept {
    const node *l = left(s), *r = right(s);
    if (&s != &top_ && (l == nullptr || r == nullptr) && !has_value(static_cast<const node&>(s)))
      return {need::step, 0};
    const std::int32_t hl = height(l), hr = height(r), h = 1 + std::max(hl, hr);
    if (std::abs(hl - hr) > 1) return {need::step, 0};
    return {s.height.load(order::relaxed) == h ? need::nothing : need::height, h};
  }
  // Nodes to be looked at, the last first. One that finds no room keeps its balance until another update passes it.
  class worklist {
   public:
    void push(spot& s) noexcept {
      if (n_ != std::size(spots_)) spots_[n_++] = &s;
    }
    spot* pop() noexcept { return n_ == 0 ? nullptr : spots_[--n_]; }

   private:
    spot* spots_[256];
    unsigned n_ = 0;
  };

  // With the lock of s, without which two that change a child each might both see the other's old height. Whoever moves s
  // meanwhile needs no lock of it: avl-hand-over.
  need fix_height(spot& s, worklist& todo) const noexcept {
    if (&s == &top_) return need::nothing;
    const condition c = of(s);
    if (c.what == need::height) {
      s.height.store(c.height, order::seq_cst);   // sync: avl-hand-over: store of height, load of parent
      todo.push(*s.parent.load(order::seq_cst));  // sync: avl-link, avl-hand-over: store of height, load of parent
    }
    return c.what;
  }

  // Mends heights and balance. Whatever changes them puts the node here; so at rest none needs it.
  void mend(guard& g, worklist& todo) {
    while (spot* const s = todo.pop()) {
      if (s == &top_) continue;
      {
        const holding l(s->lock);
        if (is_unlinked(*s) || fix_height(*s, todo) != need::step) continue;
      }
      node& n = static_cast<node&>(*s);
      spot* const parent = n.parent.load(order::acquire);  // sync: avl-link
      bool gone = false;
      {
        const holding l(parent->lock);
        if (is_unlinked(*parent) || n.parent.load(order::relaxed) != parent) {
          todo.push(n);
          continue;
        }
        const holding m(n.lock);
        if (is_unlinked(n)) continue;
        gone = step(*parent, n, todo);
      }
      if (gone) g.retire(&n);
    }
  }

  // With the locks of both. True: n is unlinked.
  bool step(spot& parent, node& n, worklist& todo) noexcept {
    if ((left(n) == nullptr || right(n) == nullptr) && !has_value(n)) {
      unlink(parent, n);
      todo.push(parent);
      return true;
    }
    const std::int32_t hl = height(left(n)), hr = height(right(n));
    if (std::abs(hl - hr) > 1) {
      lift(parent, n, hl > hr ? 0 : 1, todo);
    } else {
      fix_height(n, todo);
    }
    return false;
  }

  // rebalanceToRight (side 0), rebalanceToLeft (side 1): the child of n on that side is too high.
  void lift(spot& parent, node& n, unsigned side, worklist& todo) noexcept {
    node& high = *n.child[side].load(order::relaxed);
    const holding l(high.lock);
    if (high.height.load(order::relaxed) - height(n.child[1 - side].load(order::relaxed)) <= 1) {
      todo.push(n);  // meanwhile it is not
      return;
    }
    node* const outer = high.child[side].load(order::relaxed);
    node* const inner = high.child[1 - side].load(order::relaxed);
    if (height(outer) >= height(inner)) return rotate(parent, n, high, side, todo);
    {
      const holding m(inner->lock);
      if (height(outer) >= height(inner)) return rotate(parent, n, high, side, todo);
      // Twice; but not where that would leave `high` out of balance, since then it or `inner` is now, and comes first.
      const std::int32_t beside = height(inner->child[side].load(order::relaxed));
      if (std::abs(height(outer) - beside) <= 1) return rotate_over(parent, n, high, *inner, side, todo);
    }
    todo.push(n);
    todo.push(high);
    todo.push(*inner);
  }

  // With the locks of n and of its parent, which whoever moves n takes next: relaxed.
  static void set_height(node& n) noexcept {
    n.height.store(1 + std::max(height(left(n)), height(right(n))), order::relaxed);
  }

  // rotateRight (side 0): with the locks of all three. Keys leave the subtree of n.
  static void rotate(spot& parent, node& n, node& high, unsigned side, worklist& todo) noexcept {
    const unsigned hung = left(parent) == &n ? 0 : 1;
    begin_shrinking(n);
    hang(n, side, high.child[1 - side].load(order::relaxed));
    hang(high, 1 - side, &n);
    hang(parent, hung, &high);
    set_height(n);
    set_height(high);
    end_shrinking(n);
    todo.push(parent);
    todo.push(high);
    todo.push(n);
  }
  // rotateRightOverLeft (side 0): with the locks of all four. Keys leave the subtrees of n and of high.
  static void rotate_over(spot& parent, node& n, node& high, node& inner, unsigned side, worklist& todo) noexcept {
    const unsigned hung = left(parent) == &n ? 0 : 1;
    begin_shrinking(n);
    begin_shrinking(high);
    hang(n, side, inner.child[1 - side].load(order::relaxed));
    hang(high, 1 - side, inner.child[side].load(order::relaxed));
    hang(inner, side, &high);
    hang(inner, 1 - side, &n);
    hang(parent, hung, &inner);
    set_height(n);
    set_height(high);
    set_height(inner);
    end_shrinking(n);
    end_shrinking(high);
    todo.push(parent);
    todo.push(inner);
    todo.push(high);
    todo.push(n);
  }

  // Calls f(node) for all, signposts too, by their keys.
  template <class F>
  void walk(F&& f) const {
    std::vector<const node*> above;
    const node* n = right(top_);
    while (n != nullptr || !above.empty()) {
      for (; n != nullptr; n = left(*n)) above.push_back(n);
      n = above.back();
      above.pop_back();
      f(*n);
      n = right(*n);
    }
  }

  typename R::domain& domain_;
  mutable spot top_;  // the root hangs right of it
};

}  // namespace polder::ds
