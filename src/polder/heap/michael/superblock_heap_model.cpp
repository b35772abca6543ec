// malloc and free of figures 4 and 6 under the model checker: a block has one holder, its contents travel with it, every
// superblock ends where it can be found, and is given back once.
#include "few_superblocks_test.hpp"

#include "explore.hpp"

namespace {

using polder::order;
using polder::heap::michael::few;
using polder::heap::michael::few_superblocks;
using polder::heap::michael::fill;
using polder::heap::michael::partial_queue;
using polder::heap::michael::partial_stack;

template <few Few, class Partials = partial_queue>
struct heap_under_test : few_superblocks<Few, Partials> {
  using base = few_superblocks<Few, Partials>;
  using typename base::block;
  using typename base::descriptor;

  // After everything was freed: descriptors are free, or listed or in a slot as partial or empty, or active; and the
  // counts say that every block is free.
  void all_free() {
    POLDER_MODEL_CHECK(this->overwritten == 0);
    bool seen[Few.descriptors + 1] = {};
    const unsigned spare = Partials::needs_spare ? 1 : 0;
    unsigned superblocks = 0;
    auto once = [&](const descriptor& d) {
      POLDER_MODEL_CHECK(d.number != 0 && !seen[d.number]);
      seen[d.number] = true;
    };
    this->available.each(once);
    auto listed = [&](descriptor& d) {
      once(d);
      const auto a = d.anchor.load(order::relaxed);
      POLDER_MODEL_CHECK(a.state() == fill::partial || a.state() == fill::empty);
      if (a.state() == fill::partial) ++superblocks;
      POLDER_MODEL_CHECK(a.state() == fill::empty || a.count() < Few.capacity);
    };
    for (auto& h : this->heaps) {
      if (const auto a = h.active.load(order::relaxed)) {
        once(*a.descriptor());
        ++superblocks;
        const auto w = a.descriptor()->anchor.load(order::relaxed);
        POLDER_MODEL_CHECK(w.state() == fill::active && w.count() + a.credits() + 1 == Few.capacity);
      }
      for (unsigned i = 0; i != Few.slots; ++i)
        if (descriptor* const d = h.partial[i].load(order::relaxed)) listed(*d);
    }
    this->lists[0].each(*this, listed);
    for (unsigned n = spare + 1; n <= this->made.load(order::relaxed); ++n) POLDER_MODEL_CHECK(seen[n]);
    POLDER_MODEL_CHECK(superblocks ==
                       unsigned(std::popcount(this->places.taken() & ((1u << Few.superblocks) - 1))));
  }
};

// Two threads, one heap: from Active, to full, to partial, to empty, new.
template <few Few, class Partials = partial_queue>
struct pairs : rl::test_suite<pairs<Few, Partials>, 2>, heap_under_test<Few, Partials> {
  void thread(unsigned) {
    const auto a = this->malloc();
    const auto b = this->malloc();
    this->free(a);
    this->free(b);
    this->free(this->malloc());
  }
  void after() { this->all_free(); }
};

// Three threads on two heaps.
template <few Few, class Partials = partial_queue>
struct two_heaps : rl::test_suite<two_heaps<Few, Partials>, 3>, heap_under_test<Few, Partials> {
  void thread(unsigned self) {
    const auto a = this->malloc(self % 2);
    const auto b = this->malloc(self % 2);
    this->free(a);
    this->free(this->malloc(self % 2));
    this->free(b);
  }
  void after() { this->all_free(); }
};

// Blocks of another thread: two superblocks are full; two threads free them across while the third allocates.
template <few Few, class Partials = partial_queue>
struct remote_frees : rl::test_suite<remote_frees<Few, Partials>, 3>, heap_under_test<Few, Partials> {
  typename heap_under_test<Few, Partials>::block held[4];
  void before() {
    for (auto& b : held) b = this->malloc();
  }
  void thread(unsigned self) {
    if (self < 2) {
      this->free(held[self]);
      this->free(held[self + 2]);
    } else {
      const auto a = this->malloc();
      const auto b = this->malloc();
      this->free(a);
      this->free(b);
    }
  }
  void after() { this->all_free(); }
};

// Section 3.2.3: one thread is about to pop block 1 and has read that 2 is next; the other pops 1, 2 (and more), and
// pushes others, 1 last. The credits are such that the rest of the anchor comes back to what it was.
template <unsigned TagBits, unsigned Pops>
struct aba : rl::test_suite<aba<TagBits, Pops>, 2>,
             heap_under_test<few{.capacity = 3 + Pops, .max_credits = 2, .tag_bits = TagBits, .superblocks = 2}> {
  using block = typename aba::block;
  block first, kept, other;
  void before() { first = this->malloc(); }
  void thread(unsigned self) {
    if (self == 0) {
      other = this->malloc();
    } else {
      block b[Pops];
      for (auto& one : b) one = this->malloc();
      kept = b[1];
      this->free(first);
      for (unsigned i = 2; i != Pops; ++i) this->free(b[i]);
      this->free(b[0]);
    }
  }
  void after() {
    this->free(other);
    this->free(kept);
    block b[2 * (3 + Pops)];
    for (auto& one : b) {
      one = this->malloc();
      if (!one) break;
      for (auto& earlier : b) POLDER_MODEL_CHECK(&earlier == &one || earlier.w != one.w);
    }
    for (auto& one : b) this->free(one);
    this->all_free();
  }
};

// RemoveEmptyDesc as printed: it retires what it took out of the slot without a look.
template <bool AsPrinted>
struct last_free : rl::test_suite<last_free<AsPrinted>, 2>, heap_under_test<few{}> {
  block last, kept;

  struct printed : polder::heap::michael::superblock_heap<few_superblocks<few{}>> {
    using printed::superblock_heap::superblock_heap;
    few_superblocks<few{}>& parts;
    explicit printed(few_superblocks<few{}>& p) : superblock_heap(p), parts(p) {}
    void free(descriptor& d, unsigned i) {
      const Freed f = push(d, i);
      if (f.to == fill::empty) {
        parts.close(f.sb, f.cls);
        descriptor* expected = &d;
        if (f.last_owner->partial[0].cas(expected, nullptr, order::acquire, order::relaxed)) parts.retire(d);
        else parts.lists[0].remove_empty(parts, is_empty, [this](descriptor& e) { parts.retire(e); });
      } else if (f.from == fill::full) {
        put_partial(d);
      }
    }
  } as_printed{*this};

  void before() {
    const block a = malloc();
    last = malloc();
    free(a);
  }
  void thread(unsigned self) {
    if (self == 0) {
      touch(last);
      if constexpr (AsPrinted) as_printed.free(descriptor_of_block(last), last.index);
      else core.free(descriptor_of_block(last), last.index);
    } else {
      const block a = malloc();
      kept = malloc();
      free(a);
    }
  }
  void after() {
    descriptor& d = descriptor_of_block(kept);
    available.each([&](const descriptor& free_one) { POLDER_MODEL_CHECK(&free_one != &d); });
    free(kept);
    all_free();
  }
};

// A descriptor's life after life: the superblock's number, class and heap are written by one thread at a time.
template <few Few>
struct lives : rl::test_suite<lives<Few>, 3>, heap_under_test<Few> {
  typename heap_under_test<Few>::block held[2];
  void before() {
    for (auto& b : held) b = this->malloc();
  }
  void thread(unsigned self) {
    if (self < 2) {
      this->free(held[self]);
    }
    this->free(this->malloc(self % 2));
  }
  void after() { this->all_free(); }
};

// Two superblocks in the list of the class become empty at once; who looks through the list finds the other's, and it is
// used again.
template <few Few, class Partials = partial_queue>
struct listed : rl::test_suite<listed<Few, Partials>, 2>, heap_under_test<Few, Partials> {
  typename heap_under_test<Few, Partials>::block held[6], more[5];
  void before() {
    for (auto& b : held) b = this->malloc();
    for (int i : {0, 2, 4}) this->free(held[i]);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->free(held[1]);
    } else {
      this->free(held[3]);
      for (auto& b : more) b = this->malloc();
    }
  }
  void after() {
    for (auto& b : more) this->free(b);
    this->free(held[5]);
    this->all_free();
  }
};

constexpr few tight{.capacity = 2, .superblocks = 6, .descriptors = 8};
constexpr few one_credit{.capacity = 3, .max_credits = 1, .superblocks = 6, .descriptors = 8};
constexpr few keeping{.capacity = 2, .keeps_lost_superblock = true, .superblocks = 6, .descriptors = 8};
constexpr few two_slots{.capacity = 2, .slots = 2, .superblocks = 6, .descriptors = 8};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  auto both = [&]<class Test>(const char* title, Test*, unsigned switches = 1) {
    ok &= passes<Test>({.title = title, .how = search::bounded, .floor = 20, .switches = switches});
    ok &= passes<Test>({.title = title, .executions = 5'000});
  };
  both("michael: pairs", static_cast<pairs<tight>*>(nullptr));
  both("michael: pairs, one credit", static_cast<pairs<one_credit>*>(nullptr));
  both("michael: pairs, lost superblock kept", static_cast<pairs<keeping>*>(nullptr));
  both("michael: pairs, two Partial slots", static_cast<pairs<two_slots>*>(nullptr));
  both("michael: pairs, lists last in first out", static_cast<pairs<tight, partial_stack>*>(nullptr));
  // With one switch 1.6 million, more than all others together; in the short form those of the next line stand for them.
  if (is_full_form()) both("michael: two heaps", static_cast<two_heaps<tight>*>(nullptr));
  else ok &= passes<two_heaps<tight>>({.title = "michael: two heaps", .executions = 5'000});
  both("michael: two heaps, last in first out", static_cast<two_heaps<one_credit, partial_stack>*>(nullptr));
  both("michael: remote frees", static_cast<remote_frees<tight>*>(nullptr));
  both("michael: remote frees, last in first out", static_cast<remote_frees<tight, partial_stack>*>(nullptr));
  both("michael: lives of a descriptor", static_cast<lives<tight>*>(nullptr));
  both("michael: emptied in the list", static_cast<listed<tight>*>(nullptr));
  both("michael: emptied in the list, last in first out", static_cast<listed<tight, partial_stack>*>(nullptr));
  both("michael: last free", static_cast<last_free<false>*>(nullptr), 2);
  ok &=
      must_fail<last_free<true>>({.title = "michael: last free as printed", .how = search::bounded, .switches = 4});
  both("michael: pop among pops, 42 bits of tag", static_cast<aba<42, 2>*>(nullptr), 2);
  both("michael: two pops meanwhile, 2 bits of tag", static_cast<aba<2, 2>*>(nullptr), 2);
  ok &= must_fail<aba<0, 2>>({.title = "michael: no tag", .how = search::bounded, .switches = 3});
  ok &= must_fail<aba<1, 2>>(
      {.title = "michael: two pops meanwhile, 1 bit of tag", .how = search::bounded, .switches = 3});
  ok &= must_fail<aba<2, 4>>(
      {.title = "michael: four pops meanwhile, 2 bits of tag", .how = search::bounded, .switches = 3});
  return ok ? 0 : 1;
}
