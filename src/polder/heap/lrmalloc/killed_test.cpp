// A thread that ends for ever between any two steps of a fill or a flush, by a raw exit system call, strands what the table in
// the README says, and nobody waits for it.
#include <polder/heap/lrmalloc/lrmalloc.hpp>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include <polder/base/sanitizers.hpp>
#include <polder/heap/hosted_test.hpp>

#if !POLDER_SANITIZED  // they must see every thread to its end

namespace polder::heap {
namespace {

using lrmalloc::size_classes;
using lrmalloc::step;
using lrmalloc::superblock_size;

// Ends the calling thread at the `countdown`th time that it comes to `where`.
struct fate {
  static inline thread_local bool doomed = false;
  static inline thread_local step where = step::unlisted;
  static inline thread_local int countdown = 0;

  static void at(step s) noexcept {
    if (doomed && s == where && --countdown == 0) ::syscall(SYS_exit, 0);
  }
};

struct mortal_sheet : lrmalloc_sheet {
  using front = lrmalloc::lrmalloc_front<lrmalloc::page_array, lrmalloc::at_exit::flush, fate>;
};
using mortal = hosted<mortal_sheet>;

constexpr std::size_t size = 1024;
constexpr std::uint32_t per_superblock = 64;

// Comes by every step: opens superblocks, gives a part and the whole of some back, takes partial ones, finds an empty one.
void live(mortal& h) {
  for (int round = 0; round < 3; ++round) {
    std::vector<void*> blocks(3 * per_superblock);
    for (void*& p : blocks) p = h.allocate(size);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (i % per_superblock < 8) blocks[kept++] = blocks[i];
      else h.free(blocks[i]);
    }
    h.it.trim(0);  // three partial
    blocks.resize(kept);
    for (int i = 0; i < 40; ++i) blocks.push_back(h.allocate(size));  // one taken
    for (void* p : blocks) h.free(p);
    h.it.trim(0);  // all empty: two of them in the partial list
  }
}

// What a thread that lives through it leaves: nothing.
TEST(lrmalloc_killed, who_is_not_leaves_nothing) {
  mortal h;
  h.in_a_thread([&] { live(h); });
  EXPECT_EQ(0u, h.now().spans);
  EXPECT_EQ(0u, h.now().allocated);
}

// Ends one thread at the nth time it comes to the step; false: it never came there.
bool kill_one(mortal& h, step s, int nth) {
  bool lived = false;
  std::thread victim([&] {
    fate::doomed = true;
    fate::where = s;
    fate::countdown = nth;
    live(h);
    fate::doomed = false;
    lived = true;
    h.it.leave_thread();
  });
  victim.join();  // the kernel says that it is gone, however it went
  return !lived;
}

class lrmalloc_killed_at : public testing::TestWithParam<unsigned> {};

TEST_P(lrmalloc_killed_at, others_go_on_and_little_is_stranded) {
  const step s = step(GetParam());
  mortal h;
  h.in_a_thread([&] { live(h); });
  const auto before = h.front().superblocks().count();
  unsigned killed = 0;
  for (int nth = 1; kill_one(h, s, nth) && killed < 60; ++nth) {
    ++killed;
    h.in_a_thread([&] { live(h); });  // a survivor goes by all the same steps
    h.it.validate();
  }
  ASSERT_GT(killed, 0u) << "nobody comes by this step";
  // The most that a thread held at once: three superblocks and a half, and what it worked at.
  const auto after = h.front().superblocks().count();
  EXPECT_LE(h.now().spans, killed * 4u);
  EXPECT_LE(after.descriptors - before.descriptors, killed * 5u);
  RecordProperty("superblocks_each", std::to_string(double(h.now().spans) / killed));
}
INSTANTIATE_TEST_SUITE_P(every_step, lrmalloc_killed_at, testing::Range(0u, lrmalloc::steps));

// ---- what one step alone strands: the table ----------------------------------------------------------------------------

struct stranding {
  std::size_t superblocks = 0;  // that hold memory for ever
  std::size_t descriptors = 0;  // that nobody will have again, besides theirs
  friend bool operator==(const stranding&, const stranding&) = default;
  friend std::ostream& operator<<(std::ostream& to, const stranding& s) {
    return to << s.superblocks << " superblocks, " << s.descriptors << " descriptors";
  }
};

enum class meets { new_one, partial_one, emptied_one };  // what the heap holds when the thread fills
enum class gives { nothing, a_block, the_last, all };    // what it flushes, when that is where it ends

stranding after(step s, meets met, gives given) {
  mortal h;
  std::vector<void*> others;
  if (met != meets::new_one || given != gives::nothing)
    for (std::uint32_t i = 0; i < per_superblock; ++i) others.push_back(h.allocate(size));  // a full superblock
  const auto free_others = [&](std::size_t but) {
    while (others.size() > but) {
      h.free(others.back());
      others.pop_back();
    }
    h.it.trim(0);
  };
  if (met == meets::partial_one) free_others(per_superblock - 1);
  if (met == meets::emptied_one) free_others(1), free_others(0);  // listed by the first flush
  std::vector<void*> mine;
  if (given == gives::all) std::swap(mine, others);
  if (given == gives::a_block || given == gives::the_last) {
    mine.push_back(others.back());
    others.pop_back();
  }
  if (given == gives::the_last) free_others(0);
  std::thread victim([&] {
    for (void* p : mine) h.free(p);
    fate::doomed = true, fate::where = s, fate::countdown = 1;
    if (given == gives::nothing) static_cast<void>(h.allocate(size));
    else h.it.trim(0);
    ADD_FAILURE() << "nobody comes by step " << unsigned(s);
  });
  victim.join();
  free_others(0);
  h.it.validate();
  const auto made = h.front().superblocks().count().descriptors;
  const auto seen = h.front().superblocks().walk();
  return {h.now().spans, made - seen.retired - seen.listed - seen.full};
}

TEST(lrmalloc_killed, strands_what_the_table_says) {
  using enum step;
  const stranding nothing{0, 0}, a_superblock{1, 0}, a_descriptor{0, 1}, both{1, 1};
  EXPECT_EQ(a_descriptor, after(unlisted, meets::partial_one, gives::nothing));
  EXPECT_EQ(a_superblock, after(taken, meets::partial_one, gives::nothing)) << "its one block is lost";
  EXPECT_EQ(a_descriptor, after(found_empty, meets::emptied_one, gives::nothing));
  EXPECT_EQ(a_descriptor, after(opening, meets::new_one, gives::nothing));
  EXPECT_EQ(a_descriptor, after(mapped, meets::new_one, gives::nothing)) << "and 64 KiB of untouched addresses";
  EXPECT_EQ(a_superblock, after(registered, meets::new_one, gives::nothing));
  EXPECT_EQ(a_superblock, after(grouped, meets::new_one, gives::a_block));
  EXPECT_EQ(a_descriptor, after(given, meets::new_one, gives::a_block));
  EXPECT_EQ(a_superblock, after(emptied, meets::new_one, gives::the_last))
      << "its descriptor is retired when it is unlisted";
  EXPECT_EQ(a_superblock, after(unregistered, meets::new_one, gives::the_last));
  EXPECT_EQ(nothing, after(released, meets::new_one, gives::the_last));
  EXPECT_EQ(both, after(emptied, meets::new_one, gives::all)) << "straight from full: it is in no list";
  EXPECT_EQ(both, after(unregistered, meets::new_one, gives::all));
  EXPECT_EQ(a_descriptor, after(released, meets::new_one, gives::all));
}

}  // namespace
}  // namespace polder::heap
#endif
