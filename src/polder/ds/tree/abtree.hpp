#pragma once
// abtree — a B-tree whose leaves are replaced whole, and whose inner nodes are frozen before they are.
//
//   paper      Brown, "Techniques for constructing efficient lock-free data structures", PhD thesis, Toronto 2017, chapter
//              8 (the relaxed (a,b)-tree of Larsen & Fagerberg, 1995, its steps and their order); freezing a node by
//              marking its links: Braginsky & Petrank, "A lock-free B+tree", SPAA 2012
//   progress   insert, erase: lock-free; contains, get: as deep as the tree, and wait-free where the reclaimer protects
//              regions; range: lock-free, starves while others change its leaves
//   in malloc  no: updates allocate
//   deviation  no LLX and SCX (Brown, Ellen, Ruppert 2013), hence no descriptors: an update that needs no rebalancing is
//              one CAS of one link. What SCX provides, that a step takes place wholly or not at all, comes from
//              freezing: before a node is replaced its links are frozen, for good, and what replaces it is a function of
//              what they then hold, so that all who help do the same
//
// A link says what lies below it: whether the node is a leaf, has weight 0 (tagged) or is too small (underfull). Nothing
// else of a node ever changes but its links. Keys of child i are less than key i and not less than key i - 1.
//
// States of a link. An arrow is one successful CAS; in brackets, what the thread that made it owes.
//
//          ┌─▶ open ──────────────────────────────────▶ frozen       never changes again
//          └────┘        freeze [all links of the node,
//     replace [retire    then replace the node]
//      what it led to]
//
// States of an inner node: live (no link frozen), pinned (some), still (all), gone (no link in the tree leads to it).
// live → pinned is the freezing of a link below which the tree is out of balance, or of any link of a node that a still
// parent is about to absorb. still → gone is one CAS of the open link that leads to it.
//
// Steps, by what a still node x has below it, the first that applies (Brown's names):
//   absorb child      a tagged child n: its children become x's, if there is room
//   propagate tag     … if there is not: both are dealt out to two nodes under a new tagged one, untagged if x was the root
//   absorb sibling    an underfull child n and its sibling s with fewer than 2a between them: one node; it becomes the root
//                     if x was, and they its only children
//   distribute        … with 2a or more: two nodes of half each
//   renew             nothing is out of balance: x was frozen by a helper that came too late; a copy of x
//
// Invariants:
//   1. A node is in the tree until all its links are frozen. So what an open link leads to is in the tree.
//   2. A node with a frozen link, reached by an open one, is not tagged and has two children or more: so one of the steps
//      applies. It was frozen for a child out of balance, or by a helper of a step at a node that is gone.
//   3. Each way from the root to a leaf passes as many untagged nodes as every other.
//   4. At rest nothing is tagged, and nothing but the root is underfull: who put something out of balance mends the way
//      to its key from the root down until there is nothing left to mend, and each step leaves what it could not
//      mend on that way.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <polder/base/check.hpp>
#include <polder/base/config.hpp>
#include <polder/ds/tree/map_info.hpp>
#include <polder/ds/tree/reading.hpp>
#include <polder/ds/tree/slots.hpp>
#include <polder/sync/atomic.hpp>
#include <polder/sync/marked_pointer.hpp>

namespace polder::ds {

template <class K, class V, class R, unsigned A = 6, unsigned B = 11>
class abtree : public counted_at_rest<abtree<K, V, R, A, B>> {
  static_assert(A >= 2 && B >= 2 * A - 1, "two nodes of a split, or of a merge, must be nodes");

 public:
  static constexpr map_info info = {.name = "abtree",
                                    .title = "Lock-free (a,b)-tree",
                                    .semantics = "ordered map, linearizable; ranges too",
                                    .readers = "wait-free by regions, else lock-free",
                                    .updaters = "lock-free",
                                    .paper = "Brown, PhD thesis 2017, ch. 8; Larsen & Fagerberg 1995",
                                    .year = 2017,
                                    .parameters = "a = 6, b = 11: how many keys or children a node has",
                                    .protection = needs::pointer,
                                    .restarts = true};
  using key_type = K;
  using value_type = V;
  using reclaimer_type = R;

  struct alignas(16) node : R::header {
    unsigned size = 0;  // keys of a leaf, children of an inner node; written before the node is linked
  };
  using word = marked_pointer<node, 4>;
  static constexpr std::uintptr_t frozen = 1, tagged = 2, underfull = 4, is_leaf = 8;
  using link = atomic<word>;

  struct leaf : node {
    slots<K, B> keys;  // ascending; of integers, those that are not used are the greatest there is
    [[no_unique_address]] slots<V, B> values;

    // `from` with one more.
    leaf(const leaf& from, unsigned at, const K& key, const V& value) : leaf(none_yet{}) {
      append(from, 0, at);
      append(key, value);
      append(from, at, from.size);
      close();
    }
    // The part [begin, end) of that.
    leaf(const leaf& from, unsigned at, const K& key, const V& value, unsigned begin, unsigned end)
        : leaf(none_yet{}) {
      for (unsigned i = begin; i != end; ++i) {
        if (i == at) {
          append(key, value);
        } else {
          const unsigned j = i < at ? i : i - 1;
          append(from.keys[j], from.values[j]);
        }
      }
      close();
    }
    // `from` with one less.
    leaf(const leaf& from, unsigned without) : leaf(none_yet{}) {
      append(from, 0, without);
      append(from, without + 1, from.size);
      close();
    }
    // Of what two leaves hold one after the other, [begin, end).
    leaf(const leaf& first, const leaf& second, unsigned begin, unsigned end) : leaf(none_yet{}) {
      const unsigned n = first.size;
      if (begin < n) append(first, begin, end < n ? end : n);
      if (end > n) append(second, begin > n ? begin - n : 0, end - n);
      close();
    }
    leaf() noexcept : leaf(none_yet{}) { close(); }
    ~leaf() = default;
    ~leaf()
      requires(!(std::is_trivially_destructible_v<K> && std::is_trivially_destructible_v<V>))
    {
      for (unsigned i = 0; i != this->size; ++i) keys.destroy(i), values.destroy(i);
    }

   private:
    struct none_yet {};
    explicit leaf(none_yet) noexcept {}  // what delegates to it is destroyed if a copy throws
    [[gnu::always_inline]] void append(const K& key, const V& value) {
      keys.make(this->size, key);
      if constexpr (!std::is_nothrow_copy_constructible_v<V>) {
        try {
          values.make(this->size, value);
        } catch (...) {
          keys.destroy(this->size);
          throw;
        }
      } else {
        values.make(this->size, value);
      }
      ++this->size;
    }
    [[gnu::always_inline]] void append(const leaf& from, unsigned begin, unsigned end) {
      for (unsigned i = begin; i != end; ++i) append(from.keys[i], from.values[i]);
    }
    [[gnu::always_inline]] void close() noexcept { pad(keys, this->size); }
  };

  struct inner : node {
    slots<K, B - 1> keys;
    // children — links.
    //   written by  who made the node, before it is linked; then by CAS: updates, who replaces a child, who freezes
    //   read by     every thread that passes
    //   order       tree-link: the CAS that puts a node into a link publishes the node. A CAS that freezes goes on its
    //               release sequence, and releases nothing of its own
    //   ABA         a node is not used again while a guard that saw it is open: an equal word is the same node. Were
    //               the marks not in the word, a freeze could go unnoticed
    link children[B];

    // links[0 … n) and the keys between them.
    inner(const word* links, const K* const* separators, unsigned n) : inner() {
      POLDER_CHECK(1, n <= B);
      for (unsigned i = 0; i < n && i < B; ++i) {  // the second for g++ 12, which warns of what it cannot see
        if (i != 0) keys.make(i - 1, *separators[i - 1]);
        children[i].store(links[i], order::relaxed);
        this->size = i + 1;
      }
      pad(keys, n - 1);
    }
    ~inner() = default;
    ~inner()
      requires(!std::is_trivially_destructible_v<K>)
    {
      for (unsigned i = 0; i + 1 < this->size; ++i) keys.destroy(i);
    }

   private:
    inner() = default;
  };

  // Throws std::bad_alloc.
  explicit abtree(typename R::domain& domain) : domain_(domain) {
    guard g(domain_);
    root_.store(word(g.template make<leaf>(), is_leaf | underfull),
                order::relaxed);  // nobody else has the tree yet
  }
  abtree(const abtree&) = delete;
  abtree& operator=(const abtree&) = delete;
  ~abtree() {
    guard g(domain_);
    struct level {
      inner* x;
      unsigned left;  // children
    };
    std::array<level, 64> above;
    unsigned depth = 0;
    for (word now = root_.load(order::relaxed);;) {  // nobody else has the tree any more
      if (now.has(is_leaf)) {
        g.unmake(static_cast<leaf*>(now.pointer()));
      } else {
        above[depth++] = {static_cast<inner*>(now.pointer()), now.pointer()->size};
      }
      while (depth != 0 && above[depth - 1].left == 0) g.unmake(above[--depth].x);
      if (depth == 0) return;
      level& l = above[depth - 1];
      now = l.x->children[--l.left].load(order::relaxed);
    }
  }

  // False: the key is there, and keeps its value. Throws std::bad_alloc, and then nothing happened.
  bool insert(const K& key, const V& value = {}) {
    guard g(domain_);
    for (;;) {
      const edge e = descend(g, key);
      leaf* const l = static_cast<leaf*>(e.at.pointer());
      const unsigned at = less_than(*l, key);
      if (holds(*l, at, key)) return false;
      if (!e.at.has(frozen)) [[likely]] {
        if (l->size < B) [[likely]] {
          leaf* const made = g.template make<leaf>(*l, at, key, value);
          if (replace(e, leaf_word(made))) [[likely]] {
            g.retire(l);
            return true;
          }
          g.unmake(made);
        } else if (split(g, e, *l, at, key, value)) {
          return true;
        }
      }
      if (e.from->load(order::relaxed).has(frozen)) mend(g, key);
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
    looking g(domain_);
    const leaf& l = *static_cast<leaf*>(descend(g, key).at.pointer());
    return holds(l, less_than(l, key), key);
  }
  std::optional<V> get(const K& key) const {
    looking g(domain_);
    const leaf& l = *static_cast<leaf*>(descend(g, key).at.pointer());
    const unsigned at = less_than(l, key);
    return holds(l, at, key) ? std::optional<V>(l.values[at]) : std::nullopt;
  }

  // Calls f(key, value) for every key from lo to hi, both included, by their order, as they were at one moment.
  //
  // All links on the way to those keys are read, and then once more: if none has changed, they all held at once when the
  // first reading ended, since no node is used again while the guard is open. So a chain of links from the root was the
  // tree, and its leaves, which never change, were what it held. The second reading needs no order: it comes after the
  // first, which acquires, so it sees whatever was replaced before anything that the first one found.
  template <class F>
  void range(const K& lo, const K& hi, F&& f) const {
    static_assert(by_region,
                  "a range reads as many nodes as it has leaves: pointers are not protected by the dozen");
    if (hi < lo) return;
    looking g(domain_);
    std::vector<seen> links;
    do {
      links.clear();
      collect(g, root_, lo, hi, links);
    } while (!unchanged(links));
    for (const seen& s : links) {
      if (!s.held.has(is_leaf)) continue;
      const leaf& l = *static_cast<leaf*>(s.held.pointer());
      for (unsigned i = less_than(l, lo); i != l.size && !(hi < l.keys[i]); ++i) f(l.keys[i], l.values[i]);
    }
  }

  // For a map at rest.
  template <class F>
  void for_each_quiescent(F&& f) const {
    walk(root_.load(order::acquire), f);  // sync: tree-link
  }
  void validate() const {
    const word root = root_.load(order::acquire);  // sync: tree-link
    must(!root.has(frozen | tagged));
    if (!root.has(is_leaf)) must(root.pointer()->size >= 2);
    check(root, nullptr, nullptr, true);
  }

 private:
  static constexpr bool by_region = R::info.protects == decltype(R::info.protects)::region;
  // Of the guard's slots four follow the way down; two hold what a step reads besides.
  using guard = typename R::template guard<by_region ? 1 : 6>;
  using looking = typename R::template guard<by_region ? 1 : 4>;
  static constexpr unsigned of_step = 4;

  struct edge {
    link* from;
    word at;
  };
  struct seen {
    const link* where;
    word held;
  };

  // --- within a node

  static constexpr bool padded = std::is_integral_v<K>;

  template <unsigned N>
  static void pad(slots<K, N>& keys, unsigned used) noexcept {
    if constexpr (padded) {
      for (unsigned i = used; i < N; ++i) keys.make(i, std::numeric_limits<K>::max());
    }
  }

  // How many keys are less. Of integers, a sum of comparisons without a branch.
  [[gnu::always_inline]] static unsigned less_than(const leaf& l, const K& key) noexcept {
    unsigned n = 0;
    if constexpr (padded) {
      for (unsigned i = 0; i != B; ++i) n += unsigned(l.keys[i] < key);
    } else {
      while (n != l.size && l.keys[n] < key) ++n;
    }
    return n;
  }
  [[gnu::always_inline]] static bool holds(const leaf& l, unsigned at, const K& key) noexcept {
    return at < l.size && !(key < l.keys[at]);
  }
  // Below which child the key lies: how many keys are not greater.
  [[gnu::always_inline]] static unsigned below(const inner& x, const K& key) noexcept {
    unsigned n = 0;
    if constexpr (padded) {
      for (unsigned i = 0; i != B - 1; ++i) n += unsigned(x.keys[i] <= key);
      return n < x.size ? n : x.size - 1;  // the padding is not greater than the greatest key
    } else {
      while (n + 1 != x.size && !(key < x.keys[n])) ++n;
      return n;
    }
  }

  static word leaf_word(leaf* l) noexcept { return word(l, is_leaf | (l->size < A ? underfull : 0)); }
  static word inner_word(inner* x) noexcept { return word(x, x->size < A ? underfull : 0); }

  // --- between nodes

  // The link that leads to the leaf where the key is, if it is anywhere.
  //
  // Where single pointers are protected: what an open link leads to was in the tree (invariant 1). A frozen link proves
  // nothing; but below the last open link all links that were passed are frozen, so that what hung there still does, if
  // the open link still leads there: to the same node, which is therefore kept, and not to another at its address.
  template <class Guard>
  edge descend(Guard& g, const K& key) const {
    return read(g, [this, &key](auto& r) { return this->way(r, key); });
  }
  template <class View>
  [[gnu::always_inline]] edge way(View& r, const K& key) const {
    [[maybe_unused]] again
        : unsigned
              above = 0,
              top = 1, here = 1, next = 2,
              spare =
                  3;  // slots: of the node with the last open link; of what that leads to; of this node; of the next
    edge e{&root_, r.protect(by_region ? 0 : here, root_)};
    [[maybe_unused]] edge open = e;
    [[maybe_unused]] const inner* owner = nullptr;  // of e.from
    while (!e.at.has(is_leaf)) {
      inner& x = *static_cast<inner*>(e.at.pointer());
      link* const to = &x.children[below(x, key)];
      e = {to, r.protect(by_region ? 0 : next, *to)};
      owner = &x;
      if constexpr (!searches_by_region<R>) {
        const bool is_open = !e.at.has(frozen), at_top = here == top;
        if (!is_open && open.from->load(order::relaxed) != open.at) goto again;  // after protect(), which acquires
        const unsigned released = is_open ? std::exchange(above, here) : at_top ? spare : here;
        here = std::exchange(next, released);
        if (is_open) {
          open = e;
          if (!at_top) spare = top;
          top = here;
        }
      }
    }
    if constexpr (!by_region) reserve(r, 0, owner), reserve(r, 1, e.at.pointer());
    return e;
  }

  [[gnu::always_inline]] static bool replace(edge e, word by) noexcept {
    return e.from->cas(e.at, by, order::acq_rel, order::relaxed);  // sync: tree-link
  }

  static void retire(guard& g, word w) {
    if (w.has(is_leaf)) {
      g.retire(static_cast<leaf*>(w.pointer()));
    } else {
      g.retire(static_cast<inner*>(w.pointer()));
    }
  }

  // Nodes of a step that are not in the tree yet; unmade unless the step was taken.
  class fresh {
   public:
    explicit fresh(guard& g) noexcept : guard_(g) {}
    fresh(const fresh&) = delete;
    fresh& operator=(const fresh&) = delete;
    ~fresh() {
      while (leaves_ != 0) guard_.unmake(leaf_[--leaves_]);
      while (inners_ != 0) guard_.unmake(inner_[--inners_]);
    }
    template <class... Arguments>
    leaf* make_leaf(Arguments&&... arguments) {
      return leaf_[leaves_++] = guard_.template make<leaf>(std::forward<Arguments>(arguments)...);
    }
    inner* make_inner(const word* links, const K* const* keys, unsigned n) {
      return inner_[inners_++] = guard_.template make<inner>(links, keys, n);
    }
    void linked() noexcept { leaves_ = inners_ = 0; }

   private:
    guard& guard_;
    leaf* leaf_[2] = {};
    inner* inner_[3] = {};
    unsigned leaves_ = 0, inners_ = 0;
  };

  // A leaf that is full and one key more: two leaves under a new node.
  POLDER_NOINLINE bool split(guard& g, edge e, leaf& l, unsigned at, const K& key, const V& value) {
    constexpr unsigned half = (B + 1) / 2;
    fresh made(g);
    leaf* const left = made.make_leaf(l, at, key, value, 0u, half);
    leaf* const right = made.make_leaf(l, at, key, value, half, B + 1);
    const word links[] = {leaf_word(left), leaf_word(right)};
    const K* const between[] = {std::addressof(right->keys[0])};
    inner* const top = made.make_inner(links, between, 2);
    if (!replace(e, word(top, over(e)))) return false;
    made.linked();
    g.retire(&l);
    if (e.from != &root_) mend_quietly(g, key);
    return true;
  }
  // What a node of two halves is marked with, put where e is: a new root alone grows the tree.
  std::uintptr_t over(edge e) const noexcept { return e.from == &root_ ? 0 : tagged; }

  // Calls taken(value) before each attempt.
  template <class F>
  bool remove(const K& key, F&& taken) {
    guard g(domain_);
    for (;;) {
      const edge e = descend(g, key);
      leaf* const l = static_cast<leaf*>(e.at.pointer());
      const unsigned at = less_than(*l, key);
      if (!holds(*l, at, key)) return false;
      if (!e.at.has(frozen)) [[likely]] {
        taken(l->values[at]);  // may throw: as yet nothing has happened
        leaf* const made = g.template make<leaf>(*l, at);
        const word by = leaf_word(made);
        if (replace(e, by)) [[likely]] {
          g.retire(l);
          if (by.has(underfull) && !e.at.has(underfull) && e.from != &root_) mend_quietly(g, key);
          return true;
        }
        g.unmake(made);
      }
      if (e.from->load(order::relaxed).has(frozen)) mend(g, key);
    }
  }

  // --- steps

  // Mends the way to the key, from the root down, until nothing on it is frozen or out of balance. Throws bad_alloc, or what
  // a copy throws.
  POLDER_NOINLINE void mend(guard& g, const K& key) {
    for (;;) {
      const fault f = read(g, [this, &key](auto& r) { return this->first_fault(r, key); });
      if (f.x == nullptr) return;
      step(g, f.e, *f.x, f.i, f.child);
    }
  }

  // What is to be mended first: child i of x, which e leads to. Null: nothing is.
  struct fault {
    edge e;
    inner* x;
    unsigned i;
    word child;
  };
  template <class View>
  [[gnu::always_inline]] fault first_fault(View& r, const K& key) const {
    unsigned above = 0, here = 1, next = 2;  // slots
    edge e{&root_, r.protect(by_region ? 0 : here, root_)};
    [[maybe_unused]] const inner* owner = nullptr;  // of e.from
    while (!e.at.has(is_leaf)) {
      inner& x = *static_cast<inner*>(e.at.pointer());
      const unsigned i = below(x, key);
      const word child = r.protect(by_region ? 0 : next, x.children[i]);
      if (child.has(frozen | tagged | underfull)) {
        if constexpr (!by_region) reserve(r, 0, owner), reserve(r, 1, &x), reserve(r, 2, child.pointer());
        return {e, &x, i, child};
      }
      owner = &x;
      e = {&x.children[i], child};
      above = std::exchange(here, std::exchange(next, above));
    }
    return {e, nullptr, 0, word()};
  }

  // After an update has succeeded: where there is no memory, or a copy throws, the tree stays as it is, out of balance, until
  // another mends it.
  void mend_quietly(guard& g, const K& key) noexcept {
    try {
      mend(g, key);
    } catch (...) {
    }
  }

  // One step at x, which the open link e leads to and which is itself in balance, as a child that is frozen or out of
  // balance demands it. Nothing, if x or that child is no longer what it was.
  void step(guard& g, edge e, inner& x, unsigned i, word child) {
    if (!child.has(frozen) && !x.children[i].cas(child, child.with(frozen), order::relaxed, order::relaxed)) return;
    word links[B];
    const unsigned n = x.size;
    freeze(x, links);
    unsigned worst = n;
    for (unsigned j = n; j-- != 0;) {
      if (links[j].has(underfull)) worst = j;
    }
    for (unsigned j = n; j-- != 0;) {
      if (links[j].has(tagged)) worst = j;
    }
    POLDER_CHECK(1, n >= 2 && !e.at.has(tagged));  // invariant 2
    if (worst == n) {
      renew(g, e, x, links);
    } else if (links[worst].has(tagged)) {
      flatten(g, e, x, links, worst);
    } else {
      join(g, e, x, links, worst == 0 ? 0 : worst - 1);
    }
  }

  // Freezes all links of x, and says what they hold.
  static void freeze(inner& x, word* links) noexcept {
    for (unsigned i = 0; i != x.size; ++i) {
      word now = x.children[i].load(order::acquire);  // sync: tree-link
      while (!now.has(frozen) &&
             !x.children[i].cas(now, now.with(frozen), order::acquire, order::acquire)) {  // sync: tree-link
      }
      links[i] = now.without(frozen);
    }
  }

  // renew: x is still, and nothing below it is out of balance. Its parent may be about to absorb it: then e is frozen, and
  // this does nothing. Or a helper froze it that came too late: its step was at a node that had been absorbed, with the
  // child that demanded it, while x, that child's sibling then, went elsewhere. A copy with open links takes its place.
  void renew(guard& g, edge e, inner& x, const word* links) {
    const K* keys[B];
    for (unsigned i = 0; i + 1 < x.size; ++i) keys[i] = std::addressof(x.keys[i]);
    fresh made(g);
    if (!replace(e, inner_word(made.make_inner(links, keys, x.size)))) return;
    made.linked();
    g.retire(&x);
  }

  // Keeps child i of x, which is still, readable; false: x is gone.
  bool keep(guard& g, edge e, inner& x, unsigned i, unsigned slot) {
    if constexpr (!by_region) {
      g.protect(of_step + slot, x.children[i]);
      return e.from->load(order::relaxed) == e.at;  // after protect(), which acquires
    } else {
      return true;
    }
  }

  // absorb child, propagate tag: child t of x gives its children to x.
  void flatten(guard& g, edge e, inner& x, const word* of_x, unsigned t) {
    if (!keep(g, e, x, t, 0)) return;
    inner& low = *static_cast<inner*>(of_x[t].pointer());
    word links[2 * B];
    const K* keys[2 * B];
    freeze(low, links + t);
    for (unsigned i = 0; i != t; ++i) links[i] = of_x[i], keys[i] = std::addressof(x.keys[i]);
    for (unsigned i = 0; i + 1 != low.size; ++i) keys[t + i] = std::addressof(low.keys[i]);
    for (unsigned i = t + 1; i != x.size; ++i) {
      links[i + low.size - 1] = of_x[i];
      keys[i + low.size - 2] = std::addressof(x.keys[i - 1]);
    }
    const unsigned n = x.size + low.size - 1;
    fresh made(g);
    word by;
    if (n <= B) {
      by = inner_word(made.make_inner(links, keys, n));
    } else {
      const unsigned half = n / 2;
      const word halves[] = {inner_word(made.make_inner(links, keys, half)),
                             inner_word(made.make_inner(links + half, keys + half, n - half))};
      by = word(made.make_inner(halves, keys + half - 1, 2), over(e));
    }
    if (!replace(e, by)) return;
    made.linked();
    g.retire(&x);
    g.retire(&low);
  }

  // absorb sibling, distribute: children l and l + 1 of x become one, or share what they have.
  void join(guard& g, edge e, inner& x, const word* of_x, unsigned l) {
    if (!keep(g, e, x, l, 0) || !keep(g, e, x, l + 1, 1)) return;
    const word left = of_x[l], right = of_x[l + 1];
    POLDER_CHECK(1, left.has(is_leaf) == right.has(is_leaf));  // invariant 3: neither is tagged
    const unsigned n = left.pointer()->size + right.pointer()->size;
    const unsigned parts = n < 2 * A ? 1 : 2, half = parts == 1 ? n : n / 2;
    fresh made(g);
    word part[2];
    const K* between = nullptr;
    if (left.has(is_leaf)) {
      const leaf &a = *static_cast<leaf*>(left.pointer()), &b = *static_cast<leaf*>(right.pointer());
      part[0] = leaf_word(made.make_leaf(a, b, 0u, half));
      if (parts == 2) {
        leaf* const second = made.make_leaf(a, b, half, n);
        part[1] = leaf_word(second);
        between = std::addressof(second->keys[0]);
      }
    } else {
      inner &a = *static_cast<inner*>(left.pointer()), &b = *static_cast<inner*>(right.pointer());
      word links[2 * B];
      const K* keys[2 * B];
      freeze(a, links);
      freeze(b, links + a.size);
      for (unsigned i = 0; i + 1 != a.size; ++i) keys[i] = std::addressof(a.keys[i]);
      keys[a.size - 1] = std::addressof(x.keys[l]);
      for (unsigned i = 0; i + 1 != b.size; ++i) keys[a.size + i] = std::addressof(b.keys[i]);
      part[0] = inner_word(made.make_inner(links, keys, half));
      if (parts == 2) {
        part[1] = inner_word(made.make_inner(links + half, keys + half, n - half));
        between = keys[half - 1];
      }
    }
    word by = part[0];  // the new root, if nothing else is left under the old
    if (parts == 2 || x.size > 2 || e.from != &root_) {
      word links[B];
      const K* keys[B];
      unsigned m = 0;  // links so far; a key stands before each but the first
      for (unsigned i = 0; i != x.size; ++i) {
        if (i == l + 1 && parts == 1) continue;
        if (m != 0) keys[m - 1] = i == l + 1 ? between : std::addressof(x.keys[i - 1]);
        links[m++] = i == l ? part[0] : i == l + 1 ? part[1] : of_x[i];
      }
      by = inner_word(made.make_inner(links, keys, m));
    }
    if (!replace(e, by)) return;
    made.linked();
    g.retire(&x);
    retire(g, left);
    retire(g, right);
  }

  // --- ranges, walks

  void collect(looking& g, const link& from, const K& lo, const K& hi, std::vector<seen>& links) const {
    const word at = g.protect(0, from);
    links.push_back({&from, at});
    if (at.has(is_leaf)) return;
    const inner& x = *static_cast<inner*>(at.pointer());
    for (unsigned i = below(x, lo), last = below(x, hi); i <= last; ++i) collect(g, x.children[i], lo, hi, links);
  }
  static bool unchanged(const std::vector<seen>& links) {
    for (const seen& s : links) {
      if (s.where->load(order::relaxed).without(frozen) != s.held.without(frozen)) return false;
    }
    return true;
  }

  template <class F>
  static void walk(word at, F& f) {
    if (at.has(is_leaf)) {
      const leaf& l = *static_cast<leaf*>(at.pointer());
      for (unsigned i = 0; i != l.size; ++i) f(l.keys[i], l.values[i]);
    } else {
      const inner& x = *static_cast<inner*>(at.pointer());
      for (unsigned i = 0; i != x.size; ++i) walk(x.children[i].load(order::acquire), f);  // sync: tree-link
    }
  }

  // Its height; lo and hi bound its keys, hi itself is not one.
  static unsigned check(word at, const K* lo, const K* hi, bool is_root) {
    const unsigned n = at.pointer()->size;
    must(n <= B && (is_root || n >= A));
    must(at.has(underfull) == (n < A) || is_root);
    const auto bounded = [&](const auto& keys, unsigned count) {
      for (unsigned i = 0; i != count; ++i) {
        must(i == 0 || keys[i - 1] < keys[i]);
        must((lo == nullptr || !(keys[i] < *lo)) && (hi == nullptr || keys[i] < *hi));
      }
    };
    if (at.has(is_leaf)) {
      bounded(static_cast<leaf*>(at.pointer())->keys, n);
      return 0;
    }
    const inner& x = *static_cast<inner*>(at.pointer());
    bounded(x.keys, n - 1);
    unsigned height = 0;
    for (unsigned i = 0; i != n; ++i) {
      const word child = x.children[i].load(order::acquire);  // sync: tree-link
      must(!child.has(frozen | tagged | underfull));
      const unsigned h = check(child, i == 0 ? lo : std::addressof(x.keys[i - 1]),
                               i + 1 == n ? hi : std::addressof(x.keys[i]), false);
      must(i == 0 || h == height);
      height = h;
    }
    return height + 1;
  }

  typename R::domain& domain_;
  // root_ — a link like those of inner nodes, that is never frozen.
  mutable link root_;
};

}  // namespace polder::ds
