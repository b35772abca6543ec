// What every heap made of parts does, over a front that does as little as a front can: a list a class and cache.
#include <polder/heap/heap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include <polder/heap/hosted_test.hpp>
#include <polder/mem/class_table.hpp>
#include <polder/mem/size_class/stepped.hpp>
#include <polder/os/forked_test.hpp>

namespace polder::heap {
namespace {

// Blocks come from regions of 64 KiB, one class each, and stay with whoever frees them until its thread ends.
template <bool may_be_reentered>
class plain_front {
 public:
  struct size_classes : mem::class_table<mem::size_class::stepped> {
    static constexpr unsigned of(std::size_t n) {
      return n <= mem::size_class::stepped::largest ? mem::size_class::stepped::of(n) : 0;
    }
  };
  struct cache : cache_header {
    mem::block* free[size_classes::count + 1];
  };
  static constexpr bool reentrant = may_be_reentered;

  explicit plain_front(const heap_setting& s) noexcept : setting_(s) {}
  bool begin() noexcept { return true; }
  void end() noexcept {}

  void* allocate(cache& k, unsigned c) noexcept {
    ++depth;
    most_at_once = std::max(most_at_once, depth);
    if (during_allocate) std::exchange(during_allocate, nullptr)();
    if (!k.free[c]) k.free[c] = left_[c].take_all();
    if (!k.free[c]) carve(k, c);
    mem::block* const b = k.free[c];
    if (b) {
      k.free[c] = b->link;
      b->wipe();
    }
    --depth;
    return b;
  }
  block_info find(const void* p) const noexcept {
    const std::uint32_t c = setting_.addresses.find(address(p));
    if (c == 0 || (c & mem::radix_map::huge_mark) != 0) return {};
    return {.cls = c, .within = true, .span = at_address(align_down(address(p), mem::grain_size))};
  }
  void deallocate(cache& k, void* p, block_info b) noexcept {
    auto* const free = static_cast<mem::block*>(p);
    const bool twice = free->looks_free(setting_.secret);
    const auto offset = std::uint32_t(address(p) & (mem::grain_size - 1));
    if (twice || !mem::divides(size_classes::multiplier[b.cls], offset))
      report_free(p, b, size_classes::block_size[b.cls], twice);
    free->set_link(k.free[b.cls], setting_.secret);
    k.free[b.cls] = free;
  }
  void leave(cache& k) noexcept {
    ++leaves;
    left_inside |= depth != 0;
    ++depth;
    most_at_once = std::max(most_at_once, depth);
    if (during_leave) std::exchange(during_leave, nullptr)();
    for (unsigned c = 1; c <= size_classes::count; ++c)
      while (mem::block* const b = k.free[c]) {
        k.free[c] = b->link;
        left_[c].push_list(b, b,
                           [&](mem::block* last, mem::block* next) { last->set_link(next, setting_.secret); });
      }
    --depth;
  }
  std::size_t trim(cache*) noexcept { return 0; }
  void add_to(statistics& s) const noexcept {
    const std::size_t bytes = regions_.load(order::relaxed) * mem::grain_size;
    s.active += bytes;
    s.resident += bytes;
    s.mapped += bytes;
    s.reserved += bytes;
  }
  void after_fork_child() noexcept {}
  void validate() const noexcept {}

  static inline thread_local int depth = 0, most_at_once = 0;
  static inline thread_local void (*during_allocate)() = nullptr;  // a signal that arrives there
  static inline thread_local void (*during_leave)() = nullptr;
  static inline bool refuses = false;
  static inline unsigned leaves = 0;       // times that a cache was emptied
  static inline bool left_inside = false;  // a cache was emptied by who had interrupted its thread inside

 private:
  void carve(cache& k, unsigned c) noexcept {
    auto* const wide = refuses ? nullptr : static_cast<std::byte*>(os::map(2 * mem::grain_size));
    if (!wide) return;
    std::byte* const start = at_address(align_up(address(wide), mem::grain_size));
    setting_.addresses.store(address(start), c);
    setting_.memory.rise(mem::grain_size);
    regions_.fetch_add(1, order::relaxed);
    for (std::size_t at = size_classes::usable_bytes[c]; at != 0;) {
      at -= size_classes::block_size[c];
      auto* const b = reinterpret_cast<mem::block*>(start + at);
      b->set_link(k.free[c], setting_.secret);
      k.free[c] = b;
    }
  }

  heap_setting setting_;
  inbox<mem::block> left_[size_classes::count + 1];
  atomic<std::size_t> regions_;
};

struct plain_sheet {
  [[maybe_unused]] static constexpr heap_info info{
      .name = "plain", .title = "", .paper = "", .year = 0, .summary = "", .progress = ""};
  static constexpr tunable tunables[] = {number("mark", "0 to 9", 0, 9, 4)};
  using front = plain_front<true>;
};
struct locking_sheet : plain_sheet {
  using front = plain_front<false>;
};

using plain_heap = hosted<plain_sheet>;
using locking_heap = hosted<locking_sheet>;

template <class Heap>
struct heap_of_parts : testing::Test {};
using both = testing::Types<plain_heap, locking_heap>;
TYPED_TEST_SUITE(heap_of_parts, both);

TYPED_TEST(heap_of_parts, begins_with_its_first_block) {
  TypeParam h;
  EXPECT_EQ(0u, h.now().reserved);
  h.free(nullptr);
  EXPECT_EQ(0, test_host::installations);
  void* const p = h.allocate(1);
  ASSERT_NE(nullptr, p);
  EXPECT_EQ(1, test_host::installations);
  EXPECT_EQ(4u, h.it.effective_options().tuned[0]);
  EXPECT_TRUE(h.it.owns(p));
  EXPECT_FALSE(h.it.owns(&h));
  EXPECT_EQ(1u, h.now().threads);
  EXPECT_EQ(16u, h.now().allocated);
  h.free(p);
  EXPECT_EQ(0u, h.now().allocated);
}

TYPED_TEST(heap_of_parts, blocks_of_all_sizes_are_had_grow_shrink_and_go) {
  TypeParam h;
  std::set<void*> live;
  for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{100}, 32 * KiB, 32 * KiB + 1, MiB, 5 * MiB}) {
    auto* p = static_cast<unsigned char*>(h.it.allocate_zeroed(n));
    ASSERT_NE(nullptr, p);
    ASSERT_TRUE(live.insert(p).second);
    ASSERT_GE(h.it.usable_size(p), n);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(0, p[i]);
    std::memset(p, 7, n);
    auto* q = static_cast<unsigned char*>(h.it.reallocate(p, 3 * n + 50));
    ASSERT_NE(nullptr, q);
    live.erase(p);
    live.insert(q);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(7, q[i]);
    q = static_cast<unsigned char*>(h.it.reallocate(live.extract(q).value(), n / 5 + 1));
    live.insert(q);
    EXPECT_EQ(n == 0 ? q[0] : 7, q[0]);
  }
  for (void* p : live) h.free(p);
  EXPECT_EQ(0u, h.now().allocated);
  EXPECT_EQ(nullptr, h.it.allocate(SIZE_MAX - 100));
}

// What was kept while much was live is not worth it when that is free.
TYPED_TEST(heap_of_parts, of_large_blocks_no_more_is_kept_than_is_worth_it_beside_those_that_are_live) {
  options o = TypeParam::usual();
  o.decay_ms = 1'000'000;
  TypeParam h(o);
  std::vector<void*> all;
  for (std::size_t i = 0; i != 32; ++i) all.push_back(h.allocate(16 * MiB + i * 4 * KiB));
  std::size_t most = 0;
  for (void* p : all) {
    h.free(p);
    const statistics now = h.now();
    most = std::max(most, now.cached);
    EXPECT_LE(now.cached, std::max(mem::huge_blocks::cache_bytes, mem::worth_keeping_beside(now.large)));
  }
  EXPECT_GT(most, 64 * MiB);
  EXPECT_LE(h.now().cached, mem::huge_blocks::cache_bytes);
}

// A step each half decay time, so it takes two. However long: some machines are slow.
TYPED_TEST(heap_of_parts, a_large_block_that_was_freed_goes_back_while_somebody_allocates) {
  options o = TypeParam::usual();
  o.decay_ms = 20;
  TypeParam h(o);
  h.free(h.allocate(8 * MiB));
  EXPECT_EQ(8 * MiB, h.now().cached);
  for (int i = 0; i != 1000 && h.now().cached != 0; ++i) {
    h.it.deallocate(h.it.allocate(100));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(0u, h.now().cached);
}

// A mapping that is kept serves a block that is much shorter, and is freed as the shorter one.
TYPED_TEST(heap_of_parts, any_block_may_be_freed_with_its_size) {
  TypeParam h;
  std::mt19937 random(3);
  for (int i = 0; i != 5000; ++i) {
    std::size_t n = random() % (random() % (160 * KiB) + 1);
    void* p = h.it.allocate(n);
    ASSERT_NE(nullptr, p);
    if (i % 3 == 0) p = h.it.reallocate(p, n = random() % (160 * KiB) + 1);
    h.it.deallocate_sized(p, n);
  }
  EXPECT_EQ(0u, h.now().allocated);
}

TYPED_TEST(heap_of_parts, alignments) {
  TypeParam h;
  for (std::size_t alignment = 16; alignment <= 4 * MiB; alignment *= 2)
    for (std::size_t n : {std::size_t{0}, std::size_t{1}, alignment - 1, alignment + 1}) {
      void* const p = h.it.allocate_aligned(alignment, n);
      ASSERT_NE(nullptr, p);
      ASSERT_TRUE(is_aligned(address(p), alignment)) << alignment << ' ' << n;
      std::memset(p, 1, n);
      h.it.deallocate_aligned_sized(p, alignment, n);
    }
  EXPECT_EQ(0u, h.now().allocated);
}

// memalign rounds it up; who frees the block says what was asked for.
TYPED_TEST(heap_of_parts, alignments_that_are_no_powers_of_two) {
  TypeParam h;
  for (const std::size_t alignment : {3, 24, 3000, 100'000})
    for (const std::size_t n : {std::size_t{0}, std::size_t{10}, 100 * KiB})
      h.it.deallocate_aligned_sized(h.it.allocate_aligned(alignment_given(alignment), n), alignment, n);
  EXPECT_EQ(0u, h.now().allocated);
}

TYPED_TEST(heap_of_parts, a_thread_that_ends_leaves_its_cache_to_the_next) {
  TypeParam h;
  void* first = nullptr;
  h.in_a_thread([&] { h.free(first = h.allocate(64)); });
  EXPECT_EQ(0u, h.now().threads);
  h.in_a_thread([&] {
    void* const p = h.allocate(64);
    EXPECT_EQ(1u, h.now().labs);
    h.free(p);
  });
}

TYPED_TEST(heap_of_parts, past_its_exit_a_thread_borrows) {
  TypeParam h;
  h.in_a_thread([&] {
    void* const p = h.allocate(64);
    h.it.leave_thread();
    test_host::gone = true;
    void* const q = h.allocate(64);
    EXPECT_NE(nullptr, q);
    EXPECT_EQ(0u, h.now().threads);
    h.free(p);
    h.free(q);
    EXPECT_EQ(0u, h.now().allocated);
    EXPECT_EQ(1u, h.now().labs);
  });
}

// As it was left, so that the next to borrow it goes on there; a trim empties it.
TYPED_TEST(heap_of_parts, a_borrowed_cache_keeps_what_it_holds) {
  TypeParam h;
  using front = typename TypeParam::heap_type::shared_type::front_type;
  h.in_a_thread([&] {
    h.it.leave_thread();
    test_host::gone = true;
    front::leaves = 0;
    void* const p = h.allocate(64);
    h.free(p);
    EXPECT_EQ(p, h.allocate(64));
    h.free(p);
    EXPECT_EQ(0u, front::leaves);
    EXPECT_EQ(1u, h.now().labs);
  });
  h.free(h.allocate(80));
  EXPECT_EQ(1u, h.now().labs) << "who comes next has it";
  h.in_a_thread([&] {
    test_host::gone = true;
    h.free(h.allocate(64));
  });
  front::leaves = 0;
  h.it.trim(0);
  EXPECT_EQ(1u, front::leaves);
  h.it.trim(0);
  EXPECT_EQ(1u, front::leaves) << "once";
  EXPECT_EQ(2u, h.now().labs);
}

TYPED_TEST(heap_of_parts, batches) {
  TypeParam h;
  void* blocks[100];
  EXPECT_EQ(100u, h.it.allocate_batch(48, 100, blocks));
  EXPECT_EQ(100u, std::set<void*>(blocks, blocks + 100).size());
  blocks[3] = (h.free(blocks[3]), nullptr);
  h.it.deallocate_batch(blocks, 100);
  EXPECT_EQ(0u, h.now().allocated);
}

TYPED_TEST(heap_of_parts, a_refusal_is_null_and_what_was_had_stays) {
  TypeParam h;
  using front = typename TypeParam::heap_type::shared_type::front_type;
  void* const p = h.allocate(64);
  front::refuses = true;
  EXPECT_EQ(nullptr, h.allocate(9000));
  EXPECT_EQ(nullptr, h.it.reallocate(p, 9000));
  EXPECT_EQ(p, h.it.reallocate(p, 1)) << "a shrink cannot fail";
  front::refuses = false;
  EXPECT_DEATH(h.it.deallocate_sized(p, 65), "polder: size mismatch");
  h.it.deallocate_sized(p, 1);
  EXPECT_EQ(0u, h.now().allocated);
}

// The highest of what was there at once, whatever is there when somebody asks.
TYPED_TEST(heap_of_parts, the_peak_is_of_all_memory) {
  TypeParam h;
  std::vector<void*> all;
  for (int i = 0; i != 100'000; ++i) all.push_back(h.allocate(64));
  void* const large = h.allocate(20 * MiB);
  h.free(large);
  h.it.trim(0);
  const statistics s = h.now();
  EXPECT_GE(s.peak + 64 * KiB, s.resident + 20 * MiB) << "but for tables";
  EXPECT_LE(s.peak, s.resident + 21 * MiB);
  void* const more = h.allocate(64 * MiB);
  const std::size_t told = h.now().resident;
  h.free(h.it.reallocate(more, 128 * MiB));
  h.it.trim(0);
  EXPECT_GE(h.now().peak, told + 64 * MiB);
  for (void* p : all) h.free(p);
}

// ---- a handler that interrupts its thread inside ---------------------------------------------------------------------

template <class Heap>
Heap* interrupted;
void* kept;
void* of_no_bytes;

TYPED_TEST(heap_of_parts, a_handler_may_allocate_and_free) {
  TypeParam h;
  using front = typename TypeParam::heap_type::shared_type::front_type;
  interrupted<TypeParam> = &h;
  kept = h.allocate(80);
  front::most_at_once = 0;
  front::during_allocate = [] {
    void* const p = interrupted<TypeParam>->allocate(64);
    ASSERT_NE(nullptr, p);
    std::memset(p, 1, 64);
    interrupted<TypeParam>->free(p);
    interrupted<TypeParam>->free(kept);
    of_no_bytes = interrupted<TypeParam>->allocate(0);
  };
  void* const p = h.allocate(64);
  h.it.deallocate_sized(of_no_bytes, 0);
  EXPECT_EQ(front::reentrant ? 2 : 1, front::most_at_once) << "only a reentrant front is entered twice";
  EXPECT_EQ(64u, h.now().allocated) << "what the handler freed is free once its thread is outside";
  h.free(p);
  EXPECT_EQ(0u, h.now().allocated);
}

TYPED_TEST(heap_of_parts, a_handler_may_come_while_a_cache_is_borrowed) {
  TypeParam h;
  using front = typename TypeParam::heap_type::shared_type::front_type;
  interrupted<TypeParam> = &h;
  h.in_a_thread([&] {
    h.it.leave_thread();
    test_host::gone = true;
    front::most_at_once = 0;
    front::during_allocate = [] {
      kept = interrupted<TypeParam>->allocate(64);
      ASSERT_NE(nullptr, kept);
    };
    void* const p = h.allocate(64);
    EXPECT_EQ(front::reentrant ? 2 : 1, front::most_at_once);
    h.free(p);
    h.free(kept);
    EXPECT_EQ(0u, h.now().allocated);
  });
}

// A signal that arrives at one of the heap's next looks at what the thread has.
struct arrival {
  static void at(int look, void (*handler)()) {
    left_ = look;
    handler_ = handler;
    test_host::interruption = come;
  }

 private:
  static void come() {
    if (left_-- != 0) test_host::interruption = come;
    else handler_();
  }
  static inline thread_local int left_;
  static inline thread_local void (*handler_)();
};

// Its thread is outside by then, and in a front that has locks nobody may interrupt who empties a cache there.
TYPED_TEST(heap_of_parts, where_a_handler_was_first_to_settle_nothing_is_emptied) {
  TypeParam h;
  using front = typename TypeParam::heap_type::shared_type::front_type;
  interrupted<TypeParam> = &h;
  for (int look = 0; look != 4; ++look)
    h.in_a_thread([&h, look] {
      kept = nullptr;
      arrival::at(look, [] { kept = interrupted<TypeParam>->allocate(64); });
      front::leaves = 0;
      void* const p = h.allocate(64);
      EXPECT_EQ(0u, front::leaves) << look;
      ASSERT_NE(nullptr, kept) << look;
      h.free(p);
      h.free(kept);
    });
  EXPECT_EQ(0u, h.now().allocated);
}

// Cancelled, or by pthread_exit in a handler.
TYPED_TEST(heap_of_parts, a_thread_that_ends_inside_leaves_its_cache_to_nobody) {
  TypeParam h;
  using front = typename TypeParam::heap_type::shared_type::front_type;
  interrupted<TypeParam> = &h;
  h.in_a_thread([&] {
    front::during_allocate = [] {
      interrupted<TypeParam>->it.leave_thread();
      test_host::gone = true;
      std::thread([] {
        kept = interrupted<TypeParam>->allocate(64);
        EXPECT_EQ(2u, interrupted<TypeParam>->now().labs) << "it was handed the torn one";
        interrupted<TypeParam>->free(kept);
        interrupted<TypeParam>->it.leave_thread();
      }).join();
      void* const mine = interrupted<TypeParam>->allocate(64);  // a destructor of the thread's
      ASSERT_NE(nullptr, mine);
      interrupted<TypeParam>->free(mine);
      EXPECT_EQ(2u, interrupted<TypeParam>->now().labs);
    };
    h.free(h.allocate(64));
  });
}

// ---- fork ------------------------------------------------------------------------------------------------------------

TYPED_TEST(heap_of_parts, a_child_has_the_caches_of_threads_that_are_gone) {
  TypeParam h;
  void* const mine = h.allocate(64);
  std::thread other([&] {
    void* const p = h.allocate(64);
    const os::ending child = os::forked([&] {  // in this thread's child, the main thread's cache is left over
      h.it.after_fork_child();
      h.free(mine);
      h.free(p);
      const bool all_back = h.now().allocated == 0 && h.now().threads == 1;
      return all_back ? 0 : 1;
    });
    EXPECT_EQ(os::fine, child);
    h.free(p);
    h.it.leave_thread();
  });
  other.join();
  h.free(mine);
}

// Who was about to have one when a handler forked goes on there, and nobody else has it.
TYPED_TEST(heap_of_parts, a_child_that_returns_from_a_handler_has_its_cache_alone) {
  TypeParam h;
  interrupted<TypeParam> = &h;
  for (int look = 0; look != 4; ++look)
    h.in_a_thread([&h, look] {
      static pid_t child;
      child = -1;
      arrival::at(look, [] {
        child = ::fork();
        if (child != 0) return;
        ::alarm(60);
        interrupted<TypeParam>->it.after_fork_child();
      });
      void* const p = h.allocate(64);
      if (child == 0) {
        for (std::size_t others = h.now().labs + 1; others != 0; --others)
          if (h.it.begun()->acquire() == h.own()) ::_exit(1);
        ::_exit(p != nullptr ? 0 : 2);
      }
      int status = -1;
      ASSERT_GT(child, 0) << look;
      EXPECT_EQ(child, ::waitpid(child, &status, 0));
      EXPECT_EQ(0, status) << look;
      h.free(p);
    });
}

// What it holds there may be locked, so the others' caches change hands as they are.
TYPED_TEST(heap_of_parts, a_child_of_a_handler_empties_none_where_that_takes_locks) {
  TypeParam h;
  using front = typename TypeParam::heap_type::shared_type::front_type;
  interrupted<TypeParam> = &h;
  h.free(h.allocate(64));
  std::thread other([&] {
    h.free(kept = h.allocate(80));
    static os::ending child;
    child = {};
    front::during_allocate = [] {
      child = os::forked([] {  // the main thread's cache is left over
        front::left_inside = false;
        interrupted<TypeParam>->it.after_fork_child();
        return front::left_inside == front::reentrant ? 0 : 1;
      });
    };
    h.free(h.allocate(64));
    EXPECT_EQ(os::fine, child);
    h.it.leave_thread();
  });
  other.join();
}

// There its thread is outside, so a front that has locks would be entered twice.
TYPED_TEST(heap_of_parts, a_handler_waits_until_a_child_has_what_others_left) {
  TypeParam h;
  using front = typename TypeParam::heap_type::shared_type::front_type;
  interrupted<TypeParam> = &h;
  std::thread([&h] { h.free(h.allocate(64)); }).join();  // gone, and its cache is left over
  h.free(h.allocate(80));
  const os::ending child = os::forked([] {
    static volatile std::sig_atomic_t came;
    came = 0;
    std::signal(SIGUSR1, [](int) {
      interrupted<TypeParam>->free(interrupted<TypeParam>->allocate(64));
      came = 1;
    });
    front::most_at_once = 0;
    front::during_leave = [] { std::raise(SIGUSR1); };
    interrupted<TypeParam>->it.after_fork_child();
    if (front::during_leave != nullptr) return 1;
    while (came == 0) ::usleep(100);
    return front::most_at_once == 1 ? 0 : 2;
  });
  EXPECT_EQ(os::fine, child);
}

// ---- misuse ----------------------------------------------------------------------------------------------------------

TEST(heap_misuse, is_told) {
  plain_heap h;
  auto* const p = static_cast<char*>(h.allocate(64));
  auto* const large = static_cast<char*>(h.allocate(5 * MiB));
  int local = 0;
  EXPECT_DEATH(h.free(p + 16), "polder: misaligned free of ");
  EXPECT_DEATH((h.free(p), h.free(p)), "polder: double free of ");
  EXPECT_DEATH(h.free(&local), "polder: free of a foreign pointer ");
  EXPECT_DEATH(h.free(large + 64 * KiB), "polder: invalid free of ");
  EXPECT_DEATH(h.free(large + 16), "polder: invalid free of .*not the beginning");
  EXPECT_DEATH(h.it.deallocate_sized(p, 65), "polder: size mismatch");
  EXPECT_DEATH(h.it.deallocate_sized(p, 16), "polder: size mismatch");
  EXPECT_DEATH(h.it.deallocate_sized(large, 5 * MiB - 1), "polder: size mismatch");
  EXPECT_DEATH((h.free(large), h.free(large)), "polder: double free of ");
  h.it.deallocate_sized(large, 5 * MiB);
  h.it.deallocate_sized(p, 60);
}

}  // namespace
}  // namespace polder::heap
