// The frontend of scalloc as printed (Aigner et al. 2015, listings 2 and 3), under the model checker. It must fail: a span
// can be in the span-pool and in a set of reusable spans at once.
//
//   A span floats; one more free makes it reusable. Thread 0 makes that free, marks the span reusable (line 115) and is
//   delayed before it puts it into the set (116). Thread 1 makes the last free, marks the span free (119), removes it from
//   the set where it is not yet (120), and gives it to the pool (122). Thread 0 goes on and puts it into the set.
//
// Every shared word is seq_cst here: what fails is the protocol, not an order. One size class. Blocks are bits of a mask.
// Readings of the print: lines 96-104 are indented as the text describes them; try_mark_* also checks that figure 3 has
// the arrow (without that check a span above the threshold could never be marked free); the free lists count their
// blocks; the lock-based deque of reusable spans is an array under a lock.
//
// `together` is the same text with one difference: marking and moving a span happen under the lock of the set. It
// passes, so the race is the cause.
#include <cstdint>

#include "explore.hpp"

namespace {

using polder::atomic;
using seq = polder::order;

constexpr seq sc = seq::seq_cst;
constexpr std::uint32_t TERMINATED = 0;
constexpr unsigned BLOCKS = 3;
constexpr unsigned REUSABILITY_THRESHOLD = 1;
constexpr unsigned SPANS = 3;
constexpr unsigned all_blocks = (1u << BLOCKS) - 1;

enum class printing { as_is, together };

enum state : std::uint32_t { expected, free_, hot, floating, reusable };

constexpr bool arrow(std::uint32_t from, state to) {  // figure 3
  switch (to) {
    case hot: return from == expected || from == free_ || from == reusable;
    case floating: return from == hot || from == reusable;
    case reusable: return from == floating;
    case free_: return from == reusable;
    case expected: return false;
  }
  return false;
}

struct Block {
  struct Span* span = nullptr;
  unsigned bit = 0;
};

struct Span {
  atomic<std::uint32_t> epoch{expected << 16};  // state and ABA counter
  atomic<std::uint32_t> owner{TERMINATED};
  atomic<std::uint32_t> local{0}, remote{0};  // free blocks
  unsigned in_pool = 0, in_set = 0;           // what the model looks at; no part of the protocol

  bool try_mark(std::uint32_t old_epoch, state to) {
    if (!arrow(old_epoch >> 16, to)) return false;
    return epoch.cas(old_epoch, std::uint32_t(to) << 16 | ((old_epoch + 1) & 0xffff), sc, sc);
  }
  unsigned free_blocks() { return unsigned(std::popcount(local.load(sc) | remote.load(sc))); }
  bool is_full() { return free_blocks() == BLOCKS; }

  Block allocate_block() {
    const std::uint32_t blocks = local.load(sc);
    if (blocks == 0) return {};
    const std::uint32_t bit = blocks & -blocks;
    local.fetch_and(~bit, sc);
    return {this, bit};
  }
  bool try_refill_from_remotes() {
    if (unsigned(std::popcount(remote.load(sc))) <= REUSABILITY_THRESHOLD) return false;
    local.fetch_or(remote.exchange(0, sc), sc);
    return true;
  }
  void free(unsigned bit, std::uint32_t who) {
    const std::uint32_t before = owner.load(sc) == who ? local.fetch_or(bit, sc) : remote.fetch_or(bit, sc);
    POLDER_MODEL_CHECK((before & bit) == 0);
  }
  void moves(int pool, int set) {
    in_pool += unsigned(pool);
    in_set += unsigned(set);
    POLDER_MODEL_CHECK(in_pool + in_set <= 1);
  }
};

struct Set {
  rl::mutex lock;
  std::uint32_t owner = TERMINATED;
  Span* spans[2 * SPANS] = {};
  unsigned size = 0;

  struct locked {
    Set& s;
    explicit locked(Set& set) : s(set) { s.lock.lock(RL_INFO); }
    ~locked() { s.lock.unlock(RL_INFO); }
  };

  void open(std::uint32_t who) {
    locked l(*this);
    owner = who;
  }
  void close() {
    locked l(*this);
    owner = TERMINATED;
  }
  Span* get() {
    locked l(*this);
    if (size == 0) return nullptr;
    Span* const span = spans[--size];
    span->moves(0, -1);
    return span;
  }
  bool put_locked(std::uint32_t old_owner, Span* span) {
    if (owner != old_owner) return false;
    spans[size++] = span;
    span->moves(0, +1);
    return true;
  }
  bool put(std::uint32_t old_owner, Span* span) {
    locked l(*this);
    return put_locked(old_owner, span);
  }
  bool try_remove_locked(std::uint32_t old_owner, Span* span) {
    if (owner != old_owner) return false;
    for (unsigned i = 0; i != size; ++i) {
      if (spans[i] != span) continue;
      spans[i] = spans[--size];
      span->moves(0, -1);
      return true;
    }
    return false;
  }
  bool try_remove(std::uint32_t old_owner, Span* span) {
    locked l(*this);
    return try_remove_locked(old_owner, span);
  }
};

struct SpanPool {
  rl::mutex lock;
  Span all[SPANS];
  Span* spans[2 * SPANS] = {};
  unsigned size = 0;

  SpanPool() {
    for (Span& s : all) {
      s.in_pool = 1;
      spans[size++] = &s;
    }
  }
  Span* get() {
    lock.lock(RL_INFO);
    POLDER_MODEL_CHECK(size != 0);
    Span* const span = spans[--size];
    span->moves(-1, 0);
    lock.unlock(RL_INFO);
    return span;
  }
  void put(Span* span) {
    lock.lock(RL_INFO);
    spans[size++] = span;
    span->moves(+1, 0);
    lock.unlock(RL_INFO);
  }
};

template <printing Printing>
struct LAB {
  SpanPool* span_pool = nullptr;
  LAB* labs = nullptr;  // of both; owner n works in labs[n - 1]
  Span* hot_span = nullptr;
  Set reuseable_spans;
  atomic<std::uint32_t> owner{TERMINATED};

  LAB& get_lab(std::uint32_t who) { return labs[(who & 0xff) - 1]; }
  bool is_orphan(Span* span) {
    const std::uint32_t of = span->owner.load(sc);
    return get_lab(of).owner.load(sc) != of;
  }

  Span* get_span() {
    Span* span;
    do {
      span = reuseable_spans.get();
      if (span != nullptr && span->try_mark(span->epoch.load(sc), hot)) return span;
    } while (span != nullptr);
    span = span_pool->get();
    const bool never_used = span->owner.load(sc) == TERMINATED;
    POLDER_MODEL_CHECK(span->try_mark(span->epoch.load(sc), hot));  // "always succeeds"
    if (never_used) span->local.store(all_blocks, sc);
    span->owner.store(owner.load(sc), sc);
    return span;
  }

  Block allocate() {
    if (hot_span == nullptr) hot_span = get_span();
    Block block = hot_span->allocate_block();
    if (block.span != nullptr) return block;
    if (hot_span->try_refill_from_remotes()) return hot_span->allocate_block();
    hot_span->try_mark(hot_span->epoch.load(sc), floating);
    hot_span = get_span();
    hot_span->try_refill_from_remotes();
    return hot_span->allocate_block();
  }

  void deallocate(Block block) {
    Span* const span = block.span;
    const std::uint32_t old_owner = span->owner.load(sc);
    const std::uint32_t old_epoch = span->epoch.load(sc);
    span->free(block.bit, owner.load(sc));
    if (is_orphan(span)) {
      std::uint32_t orphaned = old_owner;
      span->owner.cas(orphaned, owner.load(sc), sc, sc);
    }
    Set& set = get_lab(old_owner).reuseable_spans;
    if (span->free_blocks() > REUSABILITY_THRESHOLD) {
      if constexpr (Printing == printing::together) {
        Set::locked l(set);
        if (span->try_mark(old_epoch, reusable)) set.put_locked(old_owner, span);
      } else {
        if (span->try_mark(old_epoch, reusable)) set.put(old_owner, span);
      }
    }
    if (span->is_full()) {
      bool marked = false;
      if constexpr (Printing == printing::together) {
        Set::locked l(set);
        marked = span->try_mark(old_epoch, free_);
        if (marked) set.try_remove_locked(old_owner, span);
      } else {
        marked = span->try_mark(old_epoch, free_);
        if (marked) set.try_remove(old_owner, span);
      }
      if (marked) span_pool->put(span);
    }
  }

  void terminate() {
    reuseable_spans.close();
    if (hot_span != nullptr) hot_span->try_mark(hot_span->epoch.load(sc), floating);
    hot_span = nullptr;
    while (Span* const span = reuseable_spans.get()) span->try_mark(span->epoch.load(sc), floating);
    owner.store(TERMINATED, sc);
  }

  void init(std::uint32_t new_owner) {
    owner.store(new_owner, sc);
    reuseable_spans.open(new_owner);
  }
};

template <printing Printing>
struct frontend {
  SpanPool pool;
  LAB<Printing> labs[2];
  Block blocks[BLOCKS + 1];

  frontend() {
    for (std::uint32_t i = 0; i != 2; ++i) {
      labs[i].span_pool = &pool;
      labs[i].labs = labs;
      labs[i].init(i + 1);
    }
  }
};

// LAB 0 fills a span, which then floats; both threads free its blocks.
template <printing Printing>
struct last_frees : rl::test_suite<last_frees<Printing>, 2>, frontend<Printing> {
  void before() {
    for (Block& b : this->blocks) b = this->labs[0].allocate();
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->labs[0].deallocate(this->blocks[0]);
    } else {
      this->labs[1].deallocate(this->blocks[1]);
      this->labs[1].deallocate(this->blocks[2]);
    }
  }
  void after() {
    Span* const span = this->blocks[0].span;
    POLDER_MODEL_CHECK(span->free_blocks() == BLOCKS);
  }
};

// One thread alone, through all the lines: shows that the text above works as long as nobody interferes.
struct alone : rl::test_suite<alone, 2>, frontend<printing::as_is> {
  void thread(unsigned self) {
    if (self != 0) return;
    for (Block& b : blocks) b = labs[0].allocate();
    labs[0].deallocate(blocks[0]);
    POLDER_MODEL_CHECK(blocks[0].span->epoch.load(sc) >> 16 == floating);
    labs[1].deallocate(blocks[1]);
    POLDER_MODEL_CHECK(blocks[0].span->in_set == 1);
    labs[0].deallocate(blocks[2]);
    POLDER_MODEL_CHECK(blocks[0].span->in_set == 0 && blocks[0].span->in_pool == 1);
    labs[0].terminate();
    labs[1].deallocate(blocks[3]);
    POLDER_MODEL_CHECK(blocks[3].span->owner.load(sc) == 2);
    labs[0].init(1 + 0x100);
    const Block again = labs[0].allocate();
    POLDER_MODEL_CHECK(again.span->owner.load(sc) == 1 + 0x100);
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<alone>({.title = "scalloc, listing 3: one thread at a time", .executions = 10});
  ok &= must_fail<last_frees<printing::as_is>>(
      {.title = "scalloc, listing 3 as printed", .how = search::bounded, .switches = 2});
  ok &= passes<last_frees<printing::together>>(
      {.title = "scalloc, listing 3, marked under the lock", .how = search::bounded, .floor = 100, .switches = 3});
  return ok ? 0 : 1;
}
