// Bags: what goes in comes out once, also in the child of a fork that came at any instruction.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include <polder/base/sanitizers.hpp>
#include <polder/smr/bag.hpp>

namespace polder::smr {
namespace {

// So large that a few fill a chunk.
struct item {
  std::uint32_t number;
  char rest[1000];
  std::size_t weight() const noexcept { return 10; }
};
using item_bag = bag<item>;
using item_stock = chunk_stock<item>;
constexpr std::uint32_t room = chunk<item>::room;

struct two_bags {
  two_bags() {
    for (int n = 0; n != 8; ++n) stock.give(new chunk<item>);
  }
  ~two_bags() {
    for (item_bag* b : {&one, &other}) {
      while (!b->empty()) b->pop(stock);
      b->tidy(stock);
    }
  }
  void fill(item_bag& b, std::uint32_t n) {
    for (; n != 0; --n) EXPECT_TRUE(b.push(item{.number = made++, .rest = {}}, stock));
  }

  item_stock stock;
  item_bag one, other;
  std::uint32_t made = 0;
};

TEST(bag, gives_back_what_was_put_in_and_its_weight) {
  two_bags t;
  t.fill(t.one, 2 * room + 1);
  t.fill(t.other, room);
  EXPECT_EQ(10 * (2 * room + 1), t.one.bytes());
  t.one.splice(t.other);
  EXPECT_TRUE(t.other.empty());
  EXPECT_EQ(0u, t.other.bytes());
  EXPECT_EQ(3 * room + 1, t.one.size());
  std::vector<bool> seen(t.made);
  while (!t.one.empty()) {
    const std::uint32_t n = t.one.pop(t.stock).number;
    EXPECT_FALSE(seen[n]);
    seen[n] = true;
    EXPECT_EQ(10 * t.one.size(), t.one.bytes());
  }
  EXPECT_EQ(std::vector<bool>(t.made, true), seen);
}

TEST(bag, keeps_what_a_sieve_keeps) {
  two_bags t;
  t.fill(t.one, 3 * room);
  t.one.sift(
      t.stock, [](item& i) { return i.number % 2 == 0; },
      [&](const item& i) { EXPECT_TRUE(t.other.push(i, t.stock)); });
  EXPECT_EQ((3 * room + 1) / 2, t.one.size());
  EXPECT_EQ(10 * t.one.size(), t.one.bytes());
  EXPECT_EQ(3 * room / 2, t.other.size());
  while (!t.one.empty()) EXPECT_EQ(0u, t.one.pop(t.stock).number % 2);
  while (!t.other.empty()) EXPECT_EQ(1u, t.other.pop(t.stock).number % 2);
}

// ---- a fork at any instruction ---------------------------------------------------------------------------------------

#if defined(__x86_64__) && !POLDER_SANITIZED

// Makes a child of each instruction of what runs between begin() and end(), which goes on with `it` as a thread does that is
// alone now. Nobody allocates meanwhile.
class children_of_each_step {
 public:
  static inline two_bags* it;
  static inline std::uint32_t in_motion;  // items that a child may miss
  static inline unsigned steps, wrong;
  static inline int first_wrong;
  static constexpr std::uint32_t most = 64;

  static void begin(two_bags& t, std::uint32_t moved) {
    it = &t, in_motion = moved, steps = wrong = 0, first_wrong = 0;
    struct sigaction act {};
    act.sa_handler = step;
    ASSERT_EQ(0, sigaction(SIGTRAP, &act, &before_));
    set_trap_flag();
  }
  static void end() {
    clear_trap_flag();
    sigaction(SIGTRAP, &before_, nullptr);
    EXPECT_GE(steps, 10u);
    EXPECT_EQ(0u, wrong) << "the first: " << first_wrong;
  }

 private:
  static void step(int) {
    ++steps;
    // Past the C library, whose handlers of fork may want a lock that is held here.
    const pid_t child = pid_t(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    if (child == 0) _exit(go_on());
    int status = -1;
    while (waitpid(child, &status, 0) != child) {
    }
    if (status != 0 && wrong++ == 0) first_wrong = status;
  }

  // 0: well; else what was wrong.
  static int go_on() {
    signal(SIGTRAP, SIG_DFL);
    clear_trap_flag();
    static item_bag mine;
    bool seen[most] = {};
    std::uint32_t found = 0;
    const auto take_all = [&](item_bag& b) {
      while (!b.empty()) {
        const std::uint32_t n = b.pop(it->stock).number;
        if (n >= most || seen[n]) return false;
        seen[n] = true;
        ++found;
      }
      b.tidy(it->stock);
      return b.bytes() == 0;
    };
    const std::uint32_t mine_from = most - 3;
    for (std::uint32_t n = mine_from; n != most; ++n) {
      // To the one that is a thread's own, and to those that another thread left behind, which somebody has now.
      item_bag& to = n == mine_from ? mine : n == mine_from + 1 ? it->one : it->other;
      if (!to.push(item{.number = n, .rest = {}}, it->stock)) return 1;
    }
    mine.splice(it->one);
    mine.splice(it->other);
    if (!take_all(mine)) return 2;
    if (!mine.empty() || !it->one.empty() || !it->other.empty()) return 3;
    return found + in_motion >= it->made + (most - mine_from) ? 0 : 4;
  }

  static void set_trap_flag() { asm volatile("pushfq; orl $0x100, (%%rsp); popfq" ::: "memory", "cc"); }
  static void clear_trap_flag() { asm volatile("pushfq; andl $~0x100, (%%rsp); popfq" ::: "memory", "cc"); }

  static inline struct sigaction before_;
};

TEST(bag_in_a_child, that_came_while_one_was_pushed) {
  for (const std::uint32_t held : {0u, 1u, room, 2 * room}) {
    SCOPED_TRACE(held);
    two_bags t;
    t.fill(t.one, held);
    const item more{.number = t.made++, .rest = {}};
    children_of_each_step::begin(t, 1);
    const bool pushed = t.one.push(more, t.stock);
    children_of_each_step::end();
    EXPECT_TRUE(pushed);
  }
}

TEST(bag_in_a_child, that_came_while_one_was_popped) {
  for (const std::uint32_t held : {1u, 2u, room + 1}) {
    SCOPED_TRACE(held);
    two_bags t;
    t.fill(t.one, held);
    for (std::uint32_t n = 0; n != (held < room ? 0 : room - 1); ++n) t.one.pop(t.stock);
    children_of_each_step::begin(t, t.made - std::uint32_t(t.one.size()) + 1);
    t.one.pop(t.stock);
    t.one.tidy(t.stock);
    children_of_each_step::end();
  }
}

TEST(bag_in_a_child, that_came_while_two_became_one) {
  for (const std::uint32_t here : {0u, 1u, room})
    for (const std::uint32_t there : {1u, 2 * room + 1}) {
      SCOPED_TRACE(testing::Message() << here << " and " << there);
      two_bags t;
      t.fill(t.one, here);
      t.fill(t.other, there);
      children_of_each_step::begin(t, there);
      t.one.splice(t.other);
      children_of_each_step::end();
    }
}

TEST(bag_in_a_child, that_came_while_one_was_sifted) {
  two_bags t;
  t.fill(t.one, 2 * room);
  children_of_each_step::begin(t, 2 * room);
  t.one.sift(
      t.stock, [](const item& i) { return i.number % 2 == 0; },
      [&](const item& i) { static_cast<void>(t.other.push(i, t.stock)); });
  children_of_each_step::end();
}

#endif

}  // namespace
}  // namespace polder::smr
