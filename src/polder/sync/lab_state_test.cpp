#include <polder/sync/lab_state.hpp>

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace polder {
namespace {

using s = lab_state;
constexpr s all[] = {s::idle, s::running, s::claimed, s::abandoned, s::draining};
constexpr std::uint32_t key = 5;

const std::set<std::pair<s, s>> drawn = {
    {s::idle, s::running},    {s::idle, s::draining},     {s::running, s::idle},   {s::running, s::claimed},
    {s::claimed, s::running}, {s::claimed, s::abandoned}, {s::abandoned, s::idle}, {s::draining, s::idle},
};

TEST(lab_state, has_exactly_the_arrows_of_its_drawing) {
  for (s from : all) {
    for (s to : all) EXPECT_EQ(drawn.contains({from, to}), legal(from, to)) << int(from) << " -> " << int(to);
  }
}

struct a_gate : testing::Test {
  gate door;
  int posts = 0;     // waiting in the inbox
  int drains = 0;    // how often it was drained
  int barriers = 0;  // heavy fences
  bool allowed = true;

  a_gate() { door.open_with(1000, key); }
  auto pending() {
    return [this] { return posts != 0; };
  }
  auto drain() {
    return [this] { posts = 0, ++drains; };
  }
  auto barrier() {
    return [this] { return ++barriers, allowed; };
  }
  claim raid() { return door.try_claim(barrier()); }
};

TEST_F(a_gate, zeroed_is_idle_and_closed) {
  constinit static gate fresh;
  EXPECT_EQ(32u, sizeof fresh);
  EXPECT_EQ(s::idle, fresh.state());
  EXPECT_FALSE(fresh.is_open());
  EXPECT_FALSE(fresh.enter(0));
  fresh.exit();
}

TEST_F(a_gate, admits_sizes_below_its_limit_and_its_key) {
  ASSERT_TRUE(door.try_acquire());
  EXPECT_FALSE(door.active());
  EXPECT_TRUE(door.enter(999));
  EXPECT_TRUE(door.active());
  door.exit();
  EXPECT_FALSE(door.active());
  EXPECT_FALSE(door.enter(1000));
  EXPECT_TRUE(door.is_open());
  door.exit();
  EXPECT_TRUE(door.enter_with(key));
  door.exit();
  EXPECT_FALSE(door.enter_with(key + 1));
  door.exit();
}

TEST_F(a_gate, has_one_owner) {
  EXPECT_TRUE(door.try_acquire());
  EXPECT_FALSE(door.try_acquire());
  EXPECT_FALSE(door.try_drain());
  EXPECT_TRUE(door.leave(pending(), drain()));
  EXPECT_EQ(0, drains);
  EXPECT_TRUE(door.try_acquire());
}

TEST_F(a_gate, who_leaves_drains_what_was_posted) {
  ASSERT_TRUE(door.try_acquire());
  posts = 1;
  door.posted(pending(), drain());
  EXPECT_EQ(0, drains) << "the owner will";
  door.leave(pending(), drain());
  EXPECT_EQ(1, drains);
  EXPECT_EQ(s::idle, door.state());
}

TEST_F(a_gate, who_posts_to_an_idle_one_drains) {
  posts = 1;
  door.posted(pending(), drain());
  EXPECT_EQ(1, drains);
  EXPECT_EQ(s::idle, door.state());
}

TEST_F(a_gate, what_is_posted_while_it_is_drained_is_drained_by_the_same) {
  posts = 1;
  int rounds = 0;
  door.posted(pending(), [&] {
    EXPECT_EQ(s::draining, door.state());
    EXPECT_FALSE(door.try_acquire());
    ++drains;
    posts = ++rounds < 3;
    door.posted(pending(), [] { FAIL() << "it is being drained"; });
  });
  EXPECT_EQ(3, drains);
  EXPECT_EQ(s::idle, door.state());
}

TEST_F(a_gate, a_claim_closes_it_and_ends_open) {
  ASSERT_TRUE(door.try_acquire());
  ASSERT_EQ(claim::held, raid());
  EXPECT_EQ(1, barriers);
  EXPECT_EQ(s::claimed, door.state());
  EXPECT_FALSE(door.enter(1));
  EXPECT_FALSE(door.is_open());
  door.exit();
  EXPECT_FALSE(door.enter_with(key));
  door.exit();
  EXPECT_EQ(claim::refused, raid()) << "one claimer at a time";
  EXPECT_TRUE(door.end_claim());
  EXPECT_EQ(s::running, door.state());
  EXPECT_TRUE(door.enter(1));
  door.exit();
  EXPECT_TRUE(door.enter_with(key));
  door.exit();
}

TEST_F(a_gate, a_claim_is_refused_while_the_owner_is_inside) {
  ASSERT_TRUE(door.try_acquire());
  ASSERT_TRUE(door.enter(1));
  EXPECT_EQ(claim::refused, raid());
  EXPECT_EQ(s::running, door.state());
  EXPECT_TRUE(door.is_open());
  door.exit();
  EXPECT_EQ(claim::held, raid());
}

TEST_F(a_gate, a_claim_is_refused_without_an_owner) {
  EXPECT_EQ(claim::refused, raid());
  EXPECT_EQ(0, barriers);
  ASSERT_TRUE(door.try_drain());
  EXPECT_EQ(claim::refused, raid());
  door.settle(pending(), drain());
}

TEST_F(a_gate, a_claim_is_refused_without_a_barrier) {
  ASSERT_TRUE(door.try_acquire());
  allowed = false;
  EXPECT_EQ(claim::refused, raid());
  EXPECT_EQ(s::running, door.state());
  EXPECT_TRUE(door.enter(1));
  door.exit();
}

TEST_F(a_gate, an_owner_that_gives_way_leaves_it_to_the_claimer) {
  ASSERT_TRUE(door.try_acquire());
  ASSERT_EQ(claim::held, raid());
  ASSERT_FALSE(door.enter(1));
  EXPECT_TRUE(door.give_way());
  EXPECT_FALSE(door.active());
  EXPECT_EQ(s::abandoned, door.state());
  EXPECT_FALSE(door.try_acquire());
  posts = 1;
  door.posted(pending(), drain());
  EXPECT_EQ(0, drains) << "the claimer will";
  EXPECT_FALSE(door.end_claim());
  door.settle(pending(), drain());
  EXPECT_EQ(1, drains);
  EXPECT_EQ(s::idle, door.state());
  EXPECT_TRUE(door.try_acquire());
  EXPECT_TRUE(door.enter(1)) << "it is open for the next owner";
}

TEST_F(a_gate, an_owner_that_leaves_while_it_is_claimed_does_the_same) {
  ASSERT_TRUE(door.try_acquire());
  ASSERT_EQ(claim::held, raid());
  EXPECT_FALSE(door.leave(pending(), drain()));
  EXPECT_EQ(s::abandoned, door.state());
  EXPECT_FALSE(door.end_claim());
  door.settle(pending(), drain());
  EXPECT_EQ(s::idle, door.state());
}

TEST_F(a_gate, an_owner_that_goes_while_the_claimer_looks_is_inherited_from) {
  ASSERT_TRUE(door.try_acquire());
  ASSERT_TRUE(door.enter(1));
  const claim c = door.try_claim([&] {
    door.exit();
    EXPECT_FALSE(door.enter(1));
    EXPECT_TRUE(door.give_way());
    return false;  // as if the barrier had been refused: the claimer withdraws, and finds the owner gone
  });
  EXPECT_EQ(claim::inherited, c);
  door.settle(pending(), drain());
  EXPECT_EQ(s::idle, door.state());
}

TEST_F(a_gate, giving_way_after_the_claim_is_over_is_not_needed) {
  ASSERT_TRUE(door.try_acquire());
  ASSERT_EQ(claim::held, raid());
  ASSERT_FALSE(door.enter(1));
  ASSERT_TRUE(door.end_claim());
  EXPECT_FALSE(door.give_way());
  EXPECT_TRUE(door.enter(1));
  door.exit();
}

TEST_F(a_gate, knows_its_owner_while_it_has_one) {
  constexpr std::uint32_t most = 1u << 22;  // threads that Linux numbers
  EXPECT_EQ(gate::unnumbered, door.owner());
  ASSERT_TRUE(door.try_acquire(most));
  EXPECT_EQ(most, door.owner());
  ASSERT_EQ(claim::held, raid());
  EXPECT_EQ(most, door.owner());
  ASSERT_TRUE(door.end_claim());
  EXPECT_EQ(most, door.owner());
  EXPECT_TRUE(door.leave(pending(), drain()));
  EXPECT_EQ(gate::unnumbered, door.owner());
  EXPECT_EQ(s::idle, door.state());
  ASSERT_TRUE(door.try_acquire(7));
  EXPECT_EQ(7u, door.owner());
  ASSERT_EQ(claim::held, raid());
  ASSERT_FALSE(door.enter(1));
  EXPECT_TRUE(door.give_way());
  EXPECT_EQ(gate::unnumbered, door.owner());
  EXPECT_EQ(s::abandoned, door.state());
  door.settle(pending(), drain());
  ASSERT_TRUE(door.try_acquire());
  EXPECT_EQ(gate::unnumbered, door.owner());
}

TEST_F(a_gate, says_whether_its_owner_is_outside) {
  EXPECT_FALSE(door.owner_is_outside());
  ASSERT_TRUE(door.try_acquire(7));
  EXPECT_TRUE(door.owner_is_outside());
  ASSERT_TRUE(door.enter(1));
  EXPECT_FALSE(door.owner_is_outside());
  door.exit();
  ASSERT_EQ(claim::held, raid());
  EXPECT_FALSE(door.owner_is_outside());
}

TEST_F(a_gate, a_claimer_inherits_from_an_owner_that_has_ended) {
  ASSERT_TRUE(door.try_acquire(7));
  ASSERT_EQ(claim::held, raid());
  posts = 1;
  door.posted(pending(), drain());
  EXPECT_EQ(0, drains) << "the claimer will";
  door.inherit();
  EXPECT_EQ(s::abandoned, door.state());
  EXPECT_EQ(gate::unnumbered, door.owner());
  door.settle(pending(), drain());
  EXPECT_EQ(1, drains);
  EXPECT_EQ(s::idle, door.state());
  ASSERT_TRUE(door.try_acquire(8));
  EXPECT_TRUE(door.enter(1)) << "it is open for the next owner";
}

TEST_F(a_gate, a_claimer_inherits_from_one_that_gave_way_before_it_ended) {
  ASSERT_TRUE(door.try_acquire(7));
  ASSERT_EQ(claim::held, raid());
  ASSERT_FALSE(door.enter(1));
  ASSERT_TRUE(door.give_way());
  door.inherit();
  EXPECT_EQ(s::abandoned, door.state());
  door.settle(pending(), drain());
  EXPECT_EQ(s::idle, door.state());
}

TEST_F(a_gate, in_a_forked_child_its_owner_has_another_number) {
  door.renumber_in_child(9);
  EXPECT_EQ(s::idle, door.state()) << "nobody's";
  EXPECT_EQ(gate::unnumbered, door.owner());
  ASSERT_TRUE(door.try_acquire(7));
  door.renumber_in_child(9);
  EXPECT_EQ(s::running, door.state());
  EXPECT_EQ(9u, door.owner());
  ASSERT_EQ(claim::held, raid());
  door.renumber_in_child(11);
  EXPECT_EQ(s::claimed, door.state()) << "its claimer is no more";
  EXPECT_FALSE(door.enter(1));
  EXPECT_TRUE(door.give_way());
}

TEST_F(a_gate, in_a_forked_child_only_quiet_ones_are_released) {
  EXPECT_TRUE(door.release_in_child());
  ASSERT_TRUE(door.try_acquire());
  ASSERT_TRUE(door.enter(1));
  EXPECT_FALSE(door.release_in_child()) << "its owner was inside";
  door.exit();
  ASSERT_EQ(claim::held, raid());
  EXPECT_FALSE(door.release_in_child()) << "its claimer was inside";
  ASSERT_TRUE(door.end_claim());
  EXPECT_TRUE(door.release_in_child());
  EXPECT_EQ(s::idle, door.state());
  ASSERT_TRUE(door.try_drain());
  EXPECT_FALSE(door.release_in_child()) << "its drainer was inside";
  gate unmade;
  EXPECT_FALSE(unmade.release_in_child()) << "its maker was not done";
}

}  // namespace
}  // namespace polder
