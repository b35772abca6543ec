// The life of a span under the model checker, in a heap of two spans of two blocks: LABs take spans from the pool, allocate
// and free, post others' blocks to their owners' inboxes, leave, adopt each other's spans, and claim each other's LABs.
//
// Checked: no block is handed out twice or freed twice; private data have one user at a time; a span's state only moves
// along its drawing; once all blocks are free and all threads have left, every span is in the pool, exactly once.
//
// The heap itself is written by the same rules, in more words: this is its protocol and nothing else.
#include <polder/mem/span_state.hpp>
#include <polder/sync/inbox.hpp>
#include <polder/sync/index_stack.hpp>
#include <polder/sync/lab_state.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::claim;
using polder::gate;
using polder::inbox;
using polder::index_stack;
using polder::lab_state;
using polder::order;
using polder::plain;
using polder::mem::span_state;

constexpr std::uint32_t spans = 2;
constexpr unsigned capacity = 2;
constexpr std::uint64_t limit = 100;

struct block {
  std::uint32_t span = 0;  // in the heap: the address
  plain<block*> next;
  plain<int> held;  // by a user
};

struct span {
  plain<span_state> state{span_state::free};
  plain<block*> free_list{nullptr};
  plain<unsigned> used{0};
  plain<std::uint32_t> next{0};  // on its LAB's list of partial spans
  block blocks[capacity];

  void becomes(span_state to) {
    POLDER_MODEL_CHECK(legal(state.get(), to));
    state.set(to);
  }
  void push(block* b) {
    b->next.set(free_list.get());
    free_list.set(b);
  }
};

struct lab {
  gate door;
  inbox<block> in;
  plain<std::uint32_t> hot{0};
  plain<std::uint32_t> partial{0};
};

// Blocks that were found in an inbox of a LAB that no longer owns their span.
struct forwarded {
  block* list[spans * capacity];
  unsigned size = 0;
  void add(block* b) { list[size++] = b; }
};

constexpr unsigned nobody = ~0u;  // as a LAB: the thread is in none

template <unsigned Labs>
struct heap {
  index_stack pool;
  atomic<std::uint32_t> links[spans + 1];
  atomic<std::uint32_t>
      words[spans + 1];  // 1 + the LAB that owns the span, or 0. Written by who holds that LAB's data
  span table[spans + 1];
  lab labs[Labs];

  heap() {
    for (unsigned l = 0; l != Labs; ++l) labs[l].door.make(limit, l);
    for (std::uint32_t s = 1; s <= spans; ++s) {
      for (block& b : table[s].blocks) {
        b.span = s;
        table[s].push(&b);
      }
      pool.push(s, link());
    }
  }

  auto link() {
    return [this](std::uint32_t s) -> atomic<std::uint32_t>& { return links[s]; };
  }
  auto pending(unsigned l) {
    return [this, l] { return !labs[l].in.empty(); };
  }
  auto drainer(unsigned l, forwarded& out) {
    return [this, l, &out] { drain(l, out); };
  }

  // ---- by the holder of LAB l's data ----

  void list(unsigned l, std::uint32_t s) {
    table[s].next.set(labs[l].partial.get());
    labs[l].partial.set(s);
  }
  void unlist(unsigned l, std::uint32_t s) {
    if (labs[l].partial.get() == s) return labs[l].partial.set(table[s].next.get());
    std::uint32_t before = labs[l].partial.get();
    while (before != 0 && table[before].next.get() != s) before = table[before].next.get();
    POLDER_MODEL_CHECK(before != 0);  // it is on this list
    table[before].next.set(table[s].next.get());
  }
  void to_pool(std::uint32_t s) {
    table[s].becomes(span_state::free);
    words[s].store(0, order::relaxed);
    pool.push(s, link());  // after this the span is another's
  }
  void free_own(unsigned l, block* b) {
    span& s = table[b->span];
    s.push(b);
    s.used.set(s.used.get() - 1);
    if (s.state.get() == span_state::full) {
      s.becomes(span_state::partial);
      list(l, b->span);
    }
    if (s.state.get() == span_state::partial && s.used.get() == 0) {
      unlist(l, b->span);
      to_pool(b->span);
    }
  }
  void drain(unsigned l, forwarded& out) {
    for (block* b = labs[l].in.take_all(); b != nullptr;) {
      block* const next = b->next.get();
      if (words[b->span].load(order::relaxed) == l + 1) {
        free_own(l, b);
      } else {
        out.add(b);
      }
      b = next;
    }
  }
  void put_hot_aside(unsigned l) {
    const std::uint32_t s = labs[l].hot.get();
    if (s == 0) return;
    labs[l].hot.set(0);
    if (table[s].used.get() == 0) {
      to_pool(s);
    } else if (table[s].free_list.get() == nullptr) {
      table[s].becomes(span_state::full);
    } else {
      table[s].becomes(span_state::partial);
      list(l, s);
    }
  }
  // The holder of both moves `from`'s partial spans to `to`; full ones stay and are found by their first free.
  void move_partials(unsigned from, unsigned to) {
    while (const std::uint32_t s = labs[from].partial.get()) {
      unlist(from, s);
      words[s].store(to + 1, order::relaxed);
      list(to, s);
    }
  }

  // ---- by a thread inside LAB `self`, or in none ----

  void send(forwarded& out, unsigned self) {
    while (out.size != 0) {
      block* const b = out.list[--out.size];
      const std::uint32_t owner = words[b->span].load(order::relaxed);
      POLDER_MODEL_CHECK(owner != 0);
      if (owner == self + 1) {
        free_own(self, b);
      } else {
        labs[owner - 1].in.push_list(b, b, [](block* last, block* next) { last->next.set(next); });
        labs[owner - 1].door.posted(pending(owner - 1), drainer(owner - 1, out));
      }
    }
  }
  void adopt(unsigned from, unsigned self) {
    if (from == self || !labs[from].door.try_drain()) return;
    forwarded out;
    drain(from, out);
    put_hot_aside(from);
    move_partials(from, self);
    labs[from].door.settle(pending(from), drainer(from, out));
    send(out, self);
  }
  // Takes what a thread outside its LAB does not use.
  void raid(unsigned from, unsigned self) {
    forwarded out;
    const claim c = labs[from].door.try_claim([] { return polder::model::heavy_fence(); });
    if (c == claim::refused) return;
    drain(from, out);
    put_hot_aside(from);
    if (self != nobody) move_partials(from, self);
    if (c == claim::inherited || !labs[from].door.end_claim()) {
      labs[from].door.settle(pending(from), drainer(from, out));
    }
    send(out, self);
  }
  std::uint32_t find_span(unsigned self) {
    forwarded out;
    drain(self, out);
    send(out, self);
    for (unsigned l = 0; l != Labs && labs[self].partial.get() == 0; ++l) adopt(l, self);
    if (const std::uint32_t s = labs[self].partial.get()) {
      unlist(self, s);
      return s;
    }
    const std::uint32_t s = pool.pop(link());
    if (s != 0) words[s].store(self + 1, order::relaxed);
    return s;
  }
  block* allocate_inside(unsigned self) {
    std::uint32_t s = labs[self].hot.get();
    if (s == 0 || table[s].free_list.get() == nullptr) {
      put_hot_aside(self);
      s = find_span(self);
      if (s == 0) return nullptr;
      table[s].becomes(span_state::hot);
      labs[self].hot.set(s);
    }
    block* const b = table[s].free_list.get();
    table[s].free_list.set(b->next.get());
    table[s].used.set(table[s].used.get() + 1);
    return b;
  }

  // ---- what a user calls, from a thread that works in LAB `self` (nobody once it had to give way) ----

  // Another thread may be at the LAB just now: then this one works in none.
  unsigned begin(unsigned wanted) { return labs[wanted].door.try_acquire() ? wanted : nobody; }

  // False: the LAB has been claimed, and given up.
  bool inside(unsigned& self) {
    while (self != nobody) {
      if (labs[self].door.come_in()) return true;
      if (labs[self].door.give_way()) self = nobody;
    }
    return false;
  }
  block* allocate(unsigned& self) {
    if (!inside(self)) return nullptr;
    block* const b = allocate_inside(self);
    labs[self].door.exit();
    if (b != nullptr) {
      POLDER_MODEL_CHECK(b->held.get() == 0);
      b->held.set(1);
    }
    return b;
  }
  void free(block* b, unsigned& self) {
    if (b == nullptr) return;
    POLDER_MODEL_CHECK(b->held.get() == 1);
    b->held.set(0);
    forwarded out;
    out.add(b);
    if (inside(self)) {
      send(out, self);
      labs[self].door.exit();
    } else {
      send(out, nobody);
    }
  }
  void end(unsigned& self) {
    forwarded out;
    if (!inside(self)) return;
    drain(self, out);
    send(out, self);
    put_hot_aside(self);
    labs[self].door.exit();
    labs[self].door.leave(pending(self), drainer(self, out));
    self = nobody;
    send(out, nobody);
  }

  // ---- at the end ----

  void everything_free() {
    for (lab& l : labs) {
      POLDER_MODEL_CHECK(l.door.state() == lab_state::idle && !l.door.active());
      POLDER_MODEL_CHECK(l.in.empty());
      POLDER_MODEL_CHECK(l.hot.get() == 0 && l.partial.get() == 0);
    }
    bool seen[spans + 1] = {};
    for (unsigned n = 0; n != spans; ++n) {
      const std::uint32_t s = pool.pop(link());
      POLDER_MODEL_CHECK(s != 0 && !seen[s]);
      seen[s] = true;
      POLDER_MODEL_CHECK(table[s].state.get() == span_state::free && table[s].used.get() == 0);
    }
    POLDER_MODEL_CHECK(pool.pop(link()) == 0);
  }

  // A block on its way from one thread to another.
  atomic<block*> handed{nullptr};
  void hand_over(block* b) { handed.store(b, order::release); }
  block* receive() { return handed.exchange(nullptr, order::acquire); }
};

// One thread allocates and leaves; the other frees what it is handed.
struct remote_frees : rl::test_suite<remote_frees, 2>, heap<2> {
  void thread(unsigned self) {
    unsigned mine = begin(self);
    if (self == 0) {
      block* const a = allocate(mine);
      block* const b = allocate(mine);
      hand_over(a);
      free(b, mine);
      end(mine);
    } else {
      block* const c = allocate(mine);
      free(receive(), mine);
      free(c, mine);
      end(mine);
    }
  }
  void after() {
    unsigned none = nobody;
    free(receive(), none);
    everything_free();
  }
};

// A third adopts what the first leaves, while the second posts to it.
struct adoption : rl::test_suite<adoption, 3>, heap<2> {
  block* kept = nullptr;
  void before() {  // LAB 0 owns span 1 (one block freed: partial) and has no thread
    unsigned mine = begin(0);
    block* const a = allocate(mine);
    kept = allocate(mine);
    free(a, mine);
    end(mine);
  }
  void thread(unsigned self) {
    unsigned mine = nobody;
    if (self == 0) {
      mine = begin(0);
      free(allocate(mine), mine);
      end(mine);
    } else if (self == 1) {
      free(kept, mine);
    } else {
      mine = begin(1);
      block* const a = allocate(mine);
      block* const b = allocate(mine);
      free(a, mine);
      free(b, mine);
      end(mine);
    }
  }
  void after() { everything_free(); }
};

// The same with the owner at work: the third claims its LAB between its operations.
struct claims : rl::test_suite<claims, 3>, heap<2> {
  block* kept = nullptr;
  unsigned owner = nobody;
  void before() {
    owner = begin(0);
    kept = allocate(owner);
  }
  void thread(unsigned self) {
    if (self == 0) {
      free(allocate(owner), owner);
      end(owner);
    } else if (self == 1) {
      unsigned mine = nobody;
      free(kept, mine);
    } else {
      unsigned mine = begin(1);
      raid(0, mine);
      free(allocate(mine), mine);
      end(mine);
    }
  }
  void after() {
    unsigned last = begin(0);  // whoever gave way left nothing behind but what the next one finds
    end(last);
    everything_free();
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<remote_frees>(
      {.title = "span life: remote frees", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<remote_frees>({.title = "span life: remote frees", .executions = 20'000});
  ok &= passes<adoption>({.title = "span life: adoption", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<adoption>({.title = "span life: adoption", .executions = 20'000});
  for (membarrier_world world : {membarrier_world::paired, membarrier_world::systemwide}) {
    ok &= passes<claims>(
        {.title = "span life: claims", .how = search::bounded, .floor = 100, .switches = 2, .world = world});
    ok &= passes<claims>({.title = "span life: claims", .executions = 20'000, .world = world});
  }
  return ok ? 0 : 1;
}
