// The life of scalloc's spans under the model checker: the code that the heap runs, over three spans of two or three blocks,
// one class, and the pool's stack. Blocks are freed by their owner and by others, LABs end and are adopted from.
//
// Checked: no block is handed out twice; a span is in one place at a time; once all blocks are free and all LABs have
// ended, every span is in the pool exactly once, which is to say that no last free was missed.
#include <polder/heap/scalloc/span_life.hpp>
#include <polder/sync/index_stack.hpp>

#include "explore.hpp"

namespace {

using namespace polder;
using namespace polder::heap::scalloc;

constexpr unsigned spans = 3;
constexpr unsigned most_blocks = 3;

struct locks {
  static owned_lock::mark me() { return owned_lock::mark(rl::ctx().current_thread() + 1); }
  static void lock(owned_lock& l) {
    l.lock(me(), [](owned_lock::mark) { rl::yield(1, model::info(model::place::current())); });
  }
  static void unlock(owned_lock& l) {
    l.unlock([] {});
  }
};

struct block {
  span* home = nullptr;  // in the heap: the address
  plain<block*> next;
  plain<int> held;
};

template <unsigned Labs, unsigned Blocks, reclaim When = reclaim::in_free>
struct world {
  using life = span_life<1, locks, When>;
  static constexpr unsigned threshold = 1;

  index_stack pool;
  span table[spans + 1];
  block blocks[spans + 1][most_blocks];
  typename life::lab_type labs[Labs];

  world() {
    for (unsigned l = 0; l != Labs; ++l) labs[l].hot[1] = nullptr, labs[l].lives = 0;
    for (span_number n = 1; n <= spans; ++n) {
      table[n].number = n;
      for (block& b : blocks[n]) b.home = &table[n];
      pool.push(n, links());
    }
  }
  auto links() {
    return [this](span_number n) -> atomic<span_number>& { return table[n].link; };
  }
  auto give() {
    return [this](span& s) { pool.push(s.number, links()); };
  }
  static void link(block* b, block* next) { b->next.set(next); }

  void new_span(unsigned l) {
    const span_number n = pool.pop(links());
    POLDER_MODEL_CHECK(n != 0);
    span& s = table[n];
    list_word w;
    for (unsigned i = 0; i != Blocks; ++i) {
      link(&blocks[n][i], w.template first<block>());
      w = w.pushed(&blocks[n][i]);
    }
    s.local.store(w, order::relaxed);
    s.remote.store(list_word{}, order::relaxed);
    s.capacity.store(Blocks, order::relaxed);
    s.threshold.store(threshold, order::relaxed);
    s.cls.store(1, order::relaxed);
    life::open(labs[l], 1, s);
  }
  block* allocate(unsigned l) {
    if (!labs[l].hot[1] && !life::reuse(labs[l], 1, give())) new_span(l);
    if (labs[l].hot[1]->local.load(order::relaxed).count() == 0 && !life::refill(*labs[l].hot[1])) {
      life::cool(labs[l], 1, give());
      if (!life::reuse(labs[l], 1, give())) new_span(l);
      if (labs[l].hot[1]->local.load(order::relaxed).count() == 0) life::refill(*labs[l].hot[1]);
    }
    span& s = *labs[l].hot[1];
    const list_word w = s.local.load(order::relaxed);
    block* const b = w.template first<block>();
    POLDER_MODEL_CHECK(b != nullptr && b->held.get() == 0);
    s.local.store(w.popped(b->next.get()), order::relaxed);
    b->held.set(1);
    return b;
  }
  void free(unsigned l, block* b) {
    POLDER_MODEL_CHECK(b->held.get() == 1);
    b->held.set(0);
    span& s = *b->home;
    const owner_word o = s.owner.load(order::relaxed);
    if (o == labs[l].owner.load(order::relaxed)) life::free_local(labs[l], 1, s, b, link, give());
    else life::free_remote(labs[l], o, s, b, link, give());
  }
  void begin(unsigned l) { life::init(labs[l]); }
  void end(unsigned l) { life::terminate(labs[l], give()); }

  void everything_free() {
    bool seen[spans + 1] = {};
    for (unsigned i = 0; i != spans; ++i) {
      const span_number n = pool.pop(links());
      POLDER_MODEL_CHECK(n != 0 && !seen[n]);
      seen[n] = true;
      POLDER_MODEL_CHECK(table[n].epoch.load(order::relaxed).state() == span_state::free ||
                         table[n].epoch.load(order::relaxed).state() == span_state::expected);
    }
    POLDER_MODEL_CHECK(pool.pop(links()) == 0);
  }
};

// A floating span of three blocks and a hot one; owner and another thread free: the case that listing 3 gets wrong.
template <reclaim When>
struct last_frees : rl::test_suite<last_frees<When>, 2>, world<2, 3, When> {
  block* held[4];
  void before() {
    this->begin(0);
    this->begin(1);
    for (block*& b : held) b = this->allocate(0);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->free(0, held[0]);
      this->free(0, held[3]);
    } else {
      this->free(1, held[1]);
      this->free(1, held[2]);
    }
  }
  void after() {
    this->end(0);
    this->end(1);
    this->everything_free();
  }
};

// The owner runs out of blocks and lets its span go, while two others free all of it.
struct cooling : rl::test_suite<cooling, 3>, world<3, 2> {
  block* held[2];
  void before() {
    for (unsigned l = 0; l != 3; ++l) begin(l);
    for (block*& b : held) b = allocate(0);
  }
  void thread(unsigned self) {
    if (self == 0) {
      free(0, allocate(0));
    } else {
      free(self, held[self - 1]);
    }
  }
  void after() {
    for (unsigned l = 0; l != 3; ++l) end(l);
    everything_free();
  }
};

// Its LAB ends while others free; what is left is adopted, and freed by its adopter too.
struct adoption : rl::test_suite<adoption, 3>, world<3, 3> {
  block* held[4];
  void before() {
    for (unsigned l = 0; l != 3; ++l) begin(l);
    for (block*& b : held) b = allocate(0);  // the first three float, the fourth's span is hot
  }
  void thread(unsigned self) {
    if (self == 0) {
      free(0, held[0]);
      end(0);
    } else if (self == 1) {
      free(1, held[1]);
      free(1, held[3]);
    } else {
      free(2, held[2]);
    }
  }
  void after() {
    end(1);
    end(2);
    everything_free();
  }
};

// A LAB ends and begins again, as another thread's, while a block of its former life is freed.
struct second_life : rl::test_suite<second_life, 2>, world<2, 2> {
  block* held[2];
  void before() {
    begin(0);
    begin(1);
    for (block*& b : held) b = allocate(0);
  }
  void thread(unsigned self) {
    if (self == 0) {
      end(0);
      begin(0);
      free(0, held[0]);
      free(0, allocate(0));
    } else {
      free(1, held[1]);
    }
  }
  void after() {
    end(0);
    end(1);
    everything_free();
  }
};

// A reusable span is wanted by its owner and emptied by another: the delayed last free of section 5.
template <reclaim When>
struct reuse_or_free : rl::test_suite<reuse_or_free<When>, 2>, world<2, 3, When> {
  block* held[4];
  void before() {
    this->begin(0);
    this->begin(1);
    for (block*& b : held) b = this->allocate(0);
    this->free(0, held[0]);
    this->free(0, held[1]);  // reusable: two of three are free
  }
  void thread(unsigned self) {
    if (self == 0) {
      block* const a = this->allocate(0);
      block* const b = this->allocate(0);
      block* const c = this->allocate(0);
      this->free(0, a);
      this->free(0, b);
      this->free(0, c);
    } else {
      this->free(1, held[2]);
    }
  }
  void after() {
    this->free(0, held[3]);
    this->end(0);
    this->end(1);
    this->everything_free();
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<last_frees<reclaim::in_free>>(
      {.title = "scalloc: last frees", .how = search::bounded, .floor = 1'000, .switches = 3});
  ok &= passes<last_frees<reclaim::in_free>>({.title = "scalloc: last frees", .executions = 20'000});
  ok &= passes<last_frees<reclaim::in_allocation>>(
      {.title = "scalloc: last frees, reclaimed later", .executions = 20'000});
  ok &= passes<cooling>({.title = "scalloc: cooling", .how = search::bounded, .floor = 1'000, .switches = 2});
  ok &= passes<cooling>({.title = "scalloc: cooling", .executions = 30'000});
  ok &= passes<adoption>({.title = "scalloc: adoption", .how = search::bounded, .floor = 1'000, .switches = 2});
  ok &= passes<adoption>({.title = "scalloc: adoption", .executions = 30'000});
  ok &= passes<second_life>(
      {.title = "scalloc: a LAB's second life", .how = search::bounded, .floor = 1'000, .switches = 3});
  ok &= passes<second_life>({.title = "scalloc: a LAB's second life", .executions = 20'000});
  ok &= passes<reuse_or_free<reclaim::in_free>>(
      {.title = "scalloc: reuse against last free", .how = search::bounded, .floor = 1'000, .switches = 3});
  ok &=
      passes<reuse_or_free<reclaim::in_free>>({.title = "scalloc: reuse against last free", .executions = 20'000});
  ok &= passes<reuse_or_free<reclaim::in_allocation>>(
      {.title = "scalloc: reuse, reclaimed later", .executions = 20'000});
  return ok ? 0 : 1;
}
