// What the slow paths do where something is wrong: mistakes of users, memory that cannot be had. What the messages say is
// test/misuse's; that nothing but abort() ends them is tested here, where coverage is counted.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include <polder/heap/polder/served_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/heavy_fence.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/os/memory_used_test.hpp>

namespace polder::heap {
namespace {

std::byte* at(void* p, std::ptrdiff_t offset) { return static_cast<std::byte*>(p) + offset; }

// ---- mistakes --------------------------------------------------------------------------------------------------------

void free_batch(served& h, std::vector<void*> held) { h.heap.deallocate_batch(held.data(), held.size()); }

TEST(mistake, a_free_of_what_is_no_block) {
  served h;
  int here = 0;
  void* const small = h.allocate(48);
  void* const large = h.allocate(200 * KiB);
  void* const huge = h.allocate(40 * MiB);
  std::byte* const span = at_address(align_down(address(small), mem::grain_size));
  const struct {
    const char* what;
    void* p;
  } all[] = {
      {"of no heap", &here},
      {"between two blocks", at(small, 16)},
      {"at an odd address", at(small, 1)},
      {"behind the last block of a span", span + classes::usable_bytes[mem::size_class::stepped::of(48)]},
      {"inside a large block", at(large, 64)},
      {"inside a large block, odd", at(large, 1)},
      {"in the grains of a large block", at(large, 2 * mem::grain_size)},
      {"inside a huge block", at(huge, 64)},
      {"inside a huge block, odd", at(huge, 1)},
      {"where nothing was ever", h.own().base + (h.own().opened - 1) * mem::grain_size},
  };
  for (const auto& one : all) {
    EXPECT_EQ(aborted, mistaken([&] { h.free(one.p); })) << one.what;
    EXPECT_EQ(aborted, mistaken([&] { free_batch(h, {one.p}); })) << one.what;
    EXPECT_EQ(aborted, mistaken([&] { static_cast<void>(h.heap.usable_size(one.p)); })) << one.what;
    EXPECT_EQ(aborted, mistaken([&] { static_cast<void>(h.heap.reallocate(one.p, 100'000)); })) << one.what;
  }
}

TEST(mistake, a_free_of_what_was_never_handed_out) {
  served h;
  void* const p = h.allocate(48);
  void* const place = at(p, 48 * 1000);
  ASSERT_GT(48u * 1000, h.span_of(p).bumped);
  EXPECT_EQ(aborted, mistaken([&] { h.free(place); }));
  EXPECT_EQ(aborted, mistaken([&] { free_batch(h, {place}); }));
}

TEST(mistake, a_block_freed_twice) {
  served h;
  for (const std::size_t n : {std::size_t{48}, 20 * KiB, 200 * KiB, 40 * MiB}) {
    void* const p = h.allocate(n);
    EXPECT_EQ(aborted, mistaken([&] { h.free(p), h.free(p); })) << n;
    EXPECT_EQ(aborted, mistaken([&] { free_batch(h, {p, p}); })) << n;
    EXPECT_EQ(aborted, mistaken([&] { h.in_a_thread([&] { h.free(p), h.free(p); }); })) << n;
    EXPECT_EQ(aborted, mistaken([&] { h.in_a_thread([&] { free_batch(h, {p, p}); }); })) << n;
    EXPECT_EQ(aborted, mistaken([&] {
                h.heap.leave_thread();
                test_host::gone = true;
                h.free(p), h.free(p);
              }))
        << n;
  }
}

// What nobody has written to since it was free may be copied. `live` is a copy of a block that is on its span's list.
struct copied : served {
  void *before, *live, *last;

  explicit copied(std::size_t n) {
    before = allocate(n), live = allocate(n), last = allocate(n);
    allocate(n);  // more than one is out, so that no span runs empty
    free(before);
    std::memcpy(live, before, sizeof(mem::block));
    EXPECT_TRUE(links::fit(static_cast<mem::block*>(live), own().secret));
  }
};

TEST(no_mistake, a_live_block_that_is_a_copy_of_a_free_one) {
  for (const std::size_t n : {std::size_t{48}, 12 * KiB}) {
    {
      copied h(n);
      h.free(h.live);
      EXPECT_EQ(h.live, h.allocate(n));
      EXPECT_EQ(h.before, h.allocate(n));
      h.validate();
    }
    {
      copied h(n);
      h.heap.deallocate_sized(h.live, n);
      h.validate();
    }
    {
      copied h(n);
      EXPECT_EQ(classes::block_size[mem::size_class::stepped::of(n)], h.heap.usable_size(h.live));
      void* const moved = h.heap.reallocate(h.live, 100'000);
      EXPECT_NE(h.live, moved);
      h.free(moved);
      h.validate();
    }
    {
      copied h(n);
      h.in_a_thread([&] { h.free(h.live); });
      h.heap.trim(0);
      h.validate();
    }
  }
}

// While others wait, only what its link says can tell it from them: it leads to no free block.
TEST(no_mistake, a_copy_of_a_free_block_while_others_are_on_their_way_home) {
  copied h(48);
  void* const used = h.allocate(48);
  const mem::secret secret = h.own().secret;
  links::set(static_cast<mem::block*>(h.live), static_cast<mem::block*>(used), secret);
  h.in_a_thread([&] {
    h.free(h.last);
    h.free(h.live);
  });
  h.heap.trim(0);
  h.validate();
}

// What was copied may be older still: from when the grain was of another class, or from before its link's place was on a list again.
TEST(no_mistake, a_copy_of_a_block_that_was_free_long_ago_while_others_are_on_their_way_home) {
  copied h(48);
  auto* const within = reinterpret_cast<mem::block*>(static_cast<std::byte*>(h.allocate(48)) + 16);
  const mem::secret secret = h.own().secret;
  links::set(within, nullptr, secret);
  void* const once_more = h.allocate(48);
  links::set(static_cast<mem::block*>(h.live), within, secret);
  links::set(static_cast<mem::block*>(once_more), static_cast<mem::block*>(h.before), secret);
  h.in_a_thread([&] {
    h.free(h.last);
    h.free(h.live);
    h.free(once_more);
  });
  h.heap.trim(0);
  h.validate();
}

TEST(mistake, a_block_freed_twice_that_is_on_its_way_home) {
  served h;
  void* const p = h.allocate(48);
  void* const q = h.allocate(48);
  h.allocate(48);
  EXPECT_EQ(aborted, mistaken([&] {  // in an outbox, behind another
              h.in_a_thread([&] { h.free(p), h.free(q), h.free(p); });
            }));
  EXPECT_EQ(aborted, mistaken([&] {  // before another
              h.in_a_thread([&] { h.free(p), h.free(q), h.free(q); });
            }));
  EXPECT_EQ(aborted, mistaken([&] {  // in an inbox
              h.in_a_thread([&] { h.free(p); });
              h.free(p);
            }));
  EXPECT_EQ(aborted, mistaken([&] {  // on the list of a span of another thread's
              h.free(p), h.free(q);
              h.in_a_thread([&] { h.free(p); });
            }));
}

TEST(mistake, a_size_that_was_never_asked_for) {
  served h;
  const struct {
    std::size_t asked, freed_with;
  } all[] = {{100, 200},         {100, 10},         {20 * KiB, 3 * KiB}, {200 * KiB, 300 * KiB},
             {200 * KiB, 1'000}, {40 * MiB, 1'000}, {40 * MiB, 80 * MiB}};
  for (const auto& [asked, freed_with] : all) {
    void* const p = h.allocate(asked);
    EXPECT_EQ(aborted, mistaken([&] { h.heap.deallocate_sized(p, freed_with); })) << asked << ' ' << freed_with;
    EXPECT_EQ(os::fine, mistaken([&] { h.heap.deallocate_sized(p, asked); })) << asked;
    EXPECT_EQ(os::fine, mistaken([&] { h.heap.deallocate_aligned_sized(p, 16, asked); })) << asked;
    EXPECT_EQ(aborted, mistaken([&] { h.heap.deallocate_aligned_sized(p, 16, 100 * MiB); })) << asked;
    const std::size_t not_its = std::size_t{2} << std::countr_zero(address(p));
    EXPECT_EQ(aborted, mistaken([&] { h.heap.deallocate_aligned_sized(p, not_its, asked); })) << asked;
  }
}

// memalign rounds it up; who frees the block says what was asked for.
TEST(no_mistake, a_free_with_an_alignment_that_is_no_power_of_two) {
  for (const bool hardened : {false, true}) {
    options o;
    o.hardened = hardened;
    o.guard_rate = 1;
    served h(o);
    for (const std::size_t alignment : {3, 24, 3000, 100'000})
      for (const std::size_t n : {std::size_t{0}, std::size_t{10}, 100 * KiB}) {
        void* const p = h.heap.allocate_aligned(alignment_given(alignment), n);
        EXPECT_EQ(os::fine, mistaken([&] { h.heap.deallocate_aligned_sized(p, alignment, n); }))
            << alignment << ' ' << n;
      }
  }
}

TEST(mistake, a_size_that_was_never_asked_for_with_its_alignment) {
  served h;
  for (std::size_t alignment = 16; alignment <= 4 * MiB; alignment *= 4) {
    for (const std::size_t asked :
         {std::size_t{0}, std::size_t{1}, std::size_t{640}, 20 * KiB, 200 * KiB, 40 * MiB}) {
      SCOPED_TRACE(std::to_string(asked) + " bytes at " + std::to_string(alignment));
      void* const p = h.heap.allocate_aligned(alignment, asked);
      EXPECT_EQ(os::fine, mistaken([&] { h.heap.deallocate_aligned_sized(p, alignment, asked); }));
      EXPECT_EQ(aborted,
                mistaken([&] { h.heap.deallocate_aligned_sized(p, alignment, 4 * asked + 4 * alignment); }));
      if (asked / 4 >= alignment) {
        EXPECT_EQ(aborted, mistaken([&] { h.heap.deallocate_aligned_sized(p, alignment, asked / 4); }));
      }
      h.heap.deallocate_aligned_sized(p, alignment, asked);
    }
  }
}

TEST(mistake, a_free_block_that_was_written_to) {
  served h;
  h.allocate(20 * KiB);  // of a class that the fast path does not serve
  EXPECT_EQ(aborted, mistaken([&] {
              void* const p = h.allocate(20 * KiB);
              h.free(p);
              std::memset(p, 1, 16);
              h.allocate(20 * KiB);
            }));
  EXPECT_EQ(aborted, mistaken([&] {  // on its way home
              void* const p = h.allocate(48);
              h.in_a_thread([&] { h.free(p); });
              std::memset(p, 1, 16);
              h.heap.trim(0);
            }));
}

// ---- no memory -------------------------------------------------------------------------------------------------------

bool leave_room(std::size_t bytes) {
  rlimit some;
  if (::getrlimit(RLIMIT_AS, &some) != 0) return false;
  some.rlim_cur = os::bytes_used(os::used::address_space) + bytes;
  return ::setrlimit(RLIMIT_AS, &some) == 0;
}

// Until not even the smallest can be had.
void use_up(served& h) {
  for (const std::size_t n : {32 * KiB, std::size_t{16}})
    while (h.allocate(n) != nullptr) {
    }
}

TEST(no_memory, a_block_that_shrinks_stays_where_it_is) {
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              served h({.arena_size = 4 * MiB, .decay_ms = 1'000'000});
              void* const large = h.allocate(100 * KiB);
              void* const huge = h.allocate(40 * MiB);
              void* const small = h.allocate(2 * KiB);
              std::memset(large, 7, 100 * KiB);
              if (!leave_room(0)) return 1;
              use_up(h);
              if (h.heap.reallocate(small, 100) != small) return 5;
              h.heap.deallocate_sized(small, 100);  // what is known of it does not speak against it
              use_up(h);
              if (h.heap.reallocate(large, 100) != large || h.heap.reallocate(huge, 1'000) != huge) return 2;
              if (*at(large, 99) != std::byte{7}) return 3;
              if (h.heap.reallocate(large, 10 * MiB) != nullptr) return 4;
              h.heap.deallocate_sized(huge, 1'000);  // which it is known to be by now
              h.heap.deallocate_sized(large, 100);
              return h.allocate(16) != nullptr ? 0 : 6;
            }));
}

TEST(no_memory, where_the_arena_is_used_up_what_grows_gets_a_mapping) {
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              served h({.arena_size = 4 * MiB, .decay_ms = 1'000'000});
              void* const p = h.allocate(40 * KiB);
              h.free(h.allocate(40 * MiB));  // its record is there
              h.heap.trim(0);
              if (!leave_room(0)) return 1;
              use_up(h);
              // For no chunk of two grains and one to align them, and for a mapping of 125 KiB.
              if (!leave_room(220 * KiB)) return 2;
              void* const q = h.heap.reallocate(p, 100 * KiB);
              if (q == nullptr || h.own().grain_of(q) < h.own().opened) return 3;
              h.heap.deallocate_sized(q, 100 * KiB);
              return 0;
            }));
}

TEST(no_memory, none_for_the_heap_itself) {
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              served h({.arena_size = 64 * MiB});
              if (!os::answer(SYS_mprotect, ENOMEM)) return 1;
              return h.allocate(16) == nullptr && h.heap.owns(&h) == false ? 0 : 2;
            }));
}

TEST(no_memory, none_for_the_tables_of_further_chunks) {
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              served h({.arena_size = GiB, .decay_ms = 1'000'000});
              void* const p = h.allocate(16);
              if (p == nullptr || !os::answer(SYS_mprotect, ENOMEM)) return 1;
              use_up(h);
              h.free(p);
              return h.allocate(16) == p ? 0 : 2;
            }));
}

TEST(no_memory, none_for_another_lab) {
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              served h({.arena_size = 4 * MiB, .decay_ms = 1'000'000});
              void* const p = h.allocate(16);
              lab* const first = &h.own();
              if (!leave_room(0)) return 1;
              use_up(h);
              for (unsigned lab = 0; lab != 100; ++lab) {  // more than there is room for among those that were made
                h.in_use::own() = &test_host::nobody<polder::heap::lab>;
                if (h.allocate(16) != nullptr) return 2;
              }
              h.in_use::own() = first;
              h.free(p);
              return h.allocate(16) == p ? 0 : 3;
            }));
}

// realloc to less does not fail, free gives back, a trim finds, and the profile ends.
TEST(no_memory, none_for_another_lab_of_who_asks_for_none) {
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              served h({.arena_size = 4 * MiB, .decay_ms = 1'000'000});
              void* const p = h.allocate(4 * KiB);
              if (p == nullptr || h.heap.start_profile(1) != profiling::done) return 1;
              lab* const first = &h.own();
              if (!leave_room(0)) return 2;
              use_up(h);
              const auto lose_lab = [&] { h.in_use::own() = &test_host::nobody<polder::heap::lab>; };
              for (unsigned lab = 0; lab != 100; ++lab) {  // those that there is room for
                lose_lab();
                static_cast<void>(h.allocate(16));
              }
              if (h.heap.reallocate(p, 100) != p || h.heap.reallocate(p, 4 * KiB) != p) return 3;
              if (h.heap.reallocate(p, 5 * KiB) != nullptr) return 4;
              h.heap.stop_profile();
              if (h.heap.is_profiling()) return 5;
              lab* const none = &test_host::nobody<polder::heap::lab>;
              if (h.in_use::own() != none) return 6;
              h.free(p);
              h.heap.trim(0);
              if (h.in_use::own() != none) return 7;
              h.in_use::own() = first;
              return h.allocate(4 * KiB) == p ? 0 : 8;
            }));
}

TEST(no_memory, none_for_a_quarantine) {
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              served h({.arena_size = 4 * MiB, .decay_ms = 1'000'000, .hardened = true, .guard_rate = 0});
              void* const p = h.allocate(16);
              if (!leave_room(0)) return 1;
              use_up(h);
              h.free(p);
              return h.allocate(16) == p ? 0 : 2;
            }));
}

// ---- the heap's own thread ---------------------------------------------------------------------------------------------

std::size_t threads() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return std::size_t(std::distance(begin(all), end(all)));
}

TEST(background, gives_back_what_was_freed_before_everybody_slept_and_ends) {
  const std::size_t before = threads();
  served h({.arena_size = GiB, .decay_ms = 20});
  h.in_a_thread([&] {
    std::vector<void*> held;
    for (int i = 0; i != 64; ++i) held.push_back(std::memset(h.allocate(MiB), 1, MiB));
    h.allocate(16);
    h.in_a_thread([&] { h.allocate(16); });
    for (void* p : held) h.free(p);
  });
  while (h.now().cached != 0 || threads() > before) {
    if (h.heap.read_modes().background_error != 0) GTEST_SKIP() << "no thread of the heap's own here";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// The kernel forbids to several threads what one may do, and a child of fork has one, whatever its parent had.
TEST(background, does_not_come_in_a_child_of_fork_until_that_has_threads) {
  if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why << ", which has no threads in a child";
  served h({.arena_size = GiB, .decay_ms = 20});
  std::vector<void*> held;
  for (int i = 0; i != 64; ++i) held.push_back(std::memset(h.allocate(MiB), 1, MiB));
  h.in_a_thread([&] { h.allocate(16); });
  EXPECT_EQ(os::fine, os::forked([&] {
              h.heap.after_fork_child();
              for (int i = 0; i != 32; ++i) h.free(held[std::size_t(i)]);
              for (int i = 0; i != 4; ++i) {
                std::this_thread::sleep_for(std::chrono::milliseconds(15));
                h.free(h.allocate(MiB));
              }
              if (h.heap.read_modes().background != background_mode::waits) return 1;
              h.in_a_thread([&] { h.allocate(16); });
              for (int i = 0; h.heap.read_modes().background == background_mode::waits; ++i) {
                h.free(h.allocate(MiB));
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
              }
              return 0;
            }));
  for (void* p : held) h.free(p);
}

// Less than anybody claims a sleeping thread's LAB for, freed by one who never allocates.
TEST(background, comes_back_for_what_is_sent_to_who_sleeps_after_it_ended) {
  if (!os::register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  const std::size_t before = threads();
  served h({.arena_size = GiB, .decay_ms = 20});
  const auto until = [](auto f) {
    while (!f()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  std::vector<void*> held;
  std::atomic<bool> all_made = false, go_on = false;
  std::thread sleeper = h.thread([&] {
    for (int i = 0; i != 32 * 1024; ++i) held.push_back(h.allocate(KiB));
    all_made.store(true);
    go_on.wait(false);
  });
  until([&] { return all_made.load(); });
  h.in_a_thread([&] { h.allocate(16); });
  const bool comes_at_all = h.heap.read_modes().background_error == 0;
  if (comes_at_all) {
    until([&] { return threads() <= before + 1; });  // one of another heap's may have been there before
    for (int i = 0; i != 128; ++i) h.free(held[std::size_t(i)]);
    EXPECT_NE(0u, h.now().waiting);
    until([&] { return h.now().waiting == 0; });
  }
  go_on.store(true);
  go_on.notify_all();
  sleeper.join();
  if (!comes_at_all) GTEST_SKIP() << "no thread of the heap's own here";
}

// Memory that cannot be given back keeps the thread there for a while, in vain. What is freed near the end of that while, and leaves
// as much of the heap with no user as was in use, is not taken for nothing new.
TEST(background, does_not_end_on_what_was_freed_a_moment_ago) {
  served h({.arena_size = GiB, .decay_ms = 20});
  h.allocate(16);
  h.in_a_thread([&] { h.allocate(16); });
  std::vector<void*> held;
  for (int i = 0; i != 32; ++i) held.push_back(std::memset(h.allocate(MiB), 1, MiB));
  if (::mlock(held[0], MiB) != 0) GTEST_SKIP() << "no memory may be locked here";
  h.free(held[0]);
  const auto of_a_step = std::chrono::milliseconds(20);
  for (int i = 0; i != 12; ++i) {
    if (h.heap.read_modes().background_error != 0) GTEST_SKIP() << "no thread of the heap's own here";
    std::this_thread::sleep_for(i * of_a_step);
    h.free(held[std::size_t(2 * i + 2)]);
    while (h.now().cached > MiB) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(0, ::munlock(held[0], MiB));
}

}  // namespace
}  // namespace polder::heap
