#include <polder/sync/lab_state.hpp>

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace polder {
namespace {

using s = lab_state;
constexpr s all[] = {s::unmade, s::idle, s::shut, s::running, s::claimed, s::abandoned, s::draining};
constexpr std::uint32_t key = 5;

const std::set<std::pair<s, s>> drawn = {
    {s::unmade, s::idle},     {s::idle, s::shut},         {s::idle, s::draining},   {s::shut, s::idle},
    {s::shut, s::claimed},    {s::running, s::idle},      {s::running, s::claimed}, {s::claimed, s::shut},
    {s::claimed, s::running}, {s::claimed, s::abandoned}, {s::abandoned, s::idle},  {s::draining, s::idle},
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

  a_gate() { door.make(1000, key); }
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
  bool enter(std::uint64_t size) { return door.announce() && door.admits(size); }
  bool enter_with(std::uint32_t k) { return door.announce() && door.admits_key(k); }
  // A first operation.
  void open() {
    ASSERT_TRUE(door.come_in());
    door.exit();
  }
};

TEST_F(a_gate, zeroed_is_unmade_and_closed) {
  constinit static gate fresh;
  EXPECT_EQ(32u, sizeof fresh);
  EXPECT_EQ(s::unmade, fresh.state());
  EXPECT_FALSE(fresh.try_acquire());
  EXPECT_FALSE(fresh.try_drain());
  EXPECT_FALSE(fresh.is_open());
  EXPECT_TRUE(fresh.announce());
  EXPECT_FALSE(fresh.admits(0));
  fresh.exit();
}

TEST_F(a_gate, is_closed_until_its_owner_opens_it) {
  EXPECT_FALSE(door.is_open());
  ASSERT_TRUE(door.try_acquire());
  EXPECT_EQ(s::shut, door.state());
  EXPECT_FALSE(enter(0));
  EXPECT_FALSE(door.is_open());
  door.exit();
  EXPECT_TRUE(door.come_in());
  EXPECT_TRUE(door.active());
  EXPECT_EQ(s::running, door.state());
  door.exit();
  EXPECT_TRUE(enter(0));
  door.exit();
  EXPECT_TRUE(door.come_in()) << "it is open";
  door.exit();
  EXPECT_TRUE(door.leave(pending(), drain()));
  EXPECT_FALSE(door.is_open());
}

TEST_F(a_gate, says_to_a_handler_that_its_owner_is_inside_and_leaves_it_there) {
  ASSERT_TRUE(door.try_acquire());
  for (const bool by_coming_in : {true, false}) {
    ASSERT_TRUE(by_coming_in ? door.come_in() : door.announce());
    for (int i = 0; i != 3; ++i) {
      EXPECT_FALSE(door.announce());
      EXPECT_TRUE(door.active());
    }
    door.exit();
    EXPECT_FALSE(door.active());
  }
}

TEST_F(a_gate, admits_sizes_below_its_limit_and_its_key) {
  ASSERT_TRUE(door.try_acquire());
  open();
  EXPECT_FALSE(door.active());
  EXPECT_TRUE(enter(999));
  EXPECT_TRUE(door.active());
  door.exit();
  EXPECT_FALSE(door.active());
  EXPECT_FALSE(enter(1000));
  EXPECT_TRUE(door.is_open());
  door.exit();
  EXPECT_TRUE(enter_with(key));
  door.exit();
  EXPECT_FALSE(enter_with(key + 1));
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

TEST_F(a_gate, a_claim_closes_it_and_leaves_it_shut) {
  ASSERT_TRUE(door.try_acquire());
  open();
  ASSERT_EQ(claim::held, raid());
  EXPECT_EQ(1, barriers);
  EXPECT_EQ(s::claimed, door.state());
  EXPECT_FALSE(enter(1));
  EXPECT_FALSE(door.is_open());
  door.exit();
  EXPECT_FALSE(enter_with(key));
  door.exit();
  EXPECT_EQ(claim::refused, raid()) << "one claimer at a time";
  EXPECT_FALSE(door.come_in());
  EXPECT_FALSE(door.active());
  EXPECT_TRUE(door.end_claim());
  EXPECT_EQ(s::shut, door.state());
  EXPECT_FALSE(enter(1)) << "its owner opens it";
  door.exit();
  EXPECT_EQ(claim::held, raid()) << "it need not be open";
  EXPECT_TRUE(door.end_claim());
  open();
  EXPECT_TRUE(enter(1));
  door.exit();
  EXPECT_TRUE(enter_with(key));
  door.exit();
}

TEST_F(a_gate, a_claim_is_refused_while_the_owner_is_inside) {
  ASSERT_TRUE(door.try_acquire());
  ASSERT_TRUE(door.come_in());
  EXPECT_EQ(claim::refused, raid());
  EXPECT_EQ(s::shut, door.state());
  EXPECT_TRUE(door.active());
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
  EXPECT_EQ(s::shut, door.state());
  open();
}

TEST_F(a_gate, an_owner_that_gives_way_leaves_it_to_the_claimer) {
  ASSERT_TRUE(door.try_acquire(7));
  ASSERT_EQ(claim::held, raid());
  ASSERT_FALSE(door.come_in());
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
}

// It may be about to enter, for a handler gave the LAB away.
TEST_F(a_gate, one_that_was_given_away_stays_closed_until_its_owner_has_ended) {
  ASSERT_TRUE(door.try_acquire(7));
  open();
  ASSERT_EQ(claim::held, raid());
  ASSERT_FALSE(door.come_in());
  ASSERT_TRUE(door.give_way());
  EXPECT_FALSE(enter(1)) << "while it is the claimer's";
  door.exit();
  ASSERT_FALSE(door.end_claim());
  door.settle(pending(), drain());
  for (int turn = 0; turn != 2; ++turn) {
    EXPECT_EQ(7u, door.reserved_for());
    EXPECT_EQ(gate::unnumbered, door.owner());
    EXPECT_FALSE(door.try_acquire());
    EXPECT_FALSE(door.try_acquire(7)) << "not even by itself";
    EXPECT_FALSE(door.try_acquire(8));
    EXPECT_FALSE(enter(1));
    door.exit();
    EXPECT_FALSE(door.come_in());
    EXPECT_EQ(claim::refused, raid());
    ASSERT_TRUE(door.try_drain()) << "what lies there may be had";
    EXPECT_FALSE(door.come_in());
    posts = turn;
    door.settle(pending(), drain());
  }
  door.lift(8);
  EXPECT_FALSE(door.try_acquire(8)) << "another has ended";
  EXPECT_FALSE(enter(1)) << "and now it ends";
  door.lift(7);
  EXPECT_TRUE(door.try_acquire(8));
  EXPECT_FALSE(door.active()) << "it had come too late";
  open();
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
  ASSERT_TRUE(door.try_acquire(7));
  ASSERT_TRUE(door.come_in());
  const claim c = door.try_claim([&] {
    door.exit();
    EXPECT_FALSE(door.come_in());
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
  ASSERT_FALSE(door.come_in());
  ASSERT_TRUE(door.end_claim());
  EXPECT_FALSE(door.give_way());
  open();
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
  open();
  EXPECT_EQ(7u, door.owner());
  EXPECT_EQ(gate::unnumbered, door.reserved_for());
  ASSERT_EQ(claim::held, raid());
  EXPECT_FALSE(door.leave(pending(), drain()));
  EXPECT_EQ(gate::unnumbered, door.owner());
  EXPECT_EQ(s::abandoned, door.state());
  door.settle(pending(), drain());
  EXPECT_EQ(gate::unnumbered, door.reserved_for());
  ASSERT_TRUE(door.try_acquire());
  EXPECT_EQ(gate::unnumbered, door.owner());
}

TEST_F(a_gate, says_whether_its_owner_is_outside) {
  EXPECT_FALSE(door.owner_is_outside());
  ASSERT_TRUE(door.try_acquire(7));
  EXPECT_TRUE(door.owner_is_outside());
  ASSERT_TRUE(door.come_in());
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
  open();
}

TEST_F(a_gate, a_claimer_inherits_from_one_that_gave_way_before_it_ended) {
  ASSERT_TRUE(door.try_acquire(7));
  ASSERT_EQ(claim::held, raid());
  ASSERT_FALSE(door.come_in());
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
  door.renumber_in_child(8);
  EXPECT_EQ(s::shut, door.state());
  EXPECT_EQ(8u, door.owner());
  open();
  door.renumber_in_child(9);
  EXPECT_EQ(s::running, door.state());
  EXPECT_EQ(9u, door.owner());
  ASSERT_EQ(claim::held, raid());
  door.renumber_in_child(11);
  EXPECT_EQ(s::claimed, door.state()) << "its claimer is no more";
  EXPECT_FALSE(door.come_in());
  EXPECT_TRUE(door.give_way());
  EXPECT_EQ(11u, door.reserved_for());
}

TEST_F(a_gate, in_a_forked_child_only_quiet_ones_are_released) {
  const auto release = [](gate& g) { return g.release_in_child(gate::unnumbered, 5); };
  EXPECT_TRUE(release(door));
  EXPECT_EQ(gate::unnumbered, door.reserved_for());
  ASSERT_TRUE(door.try_acquire());
  ASSERT_TRUE(door.come_in());
  EXPECT_FALSE(release(door)) << "its owner was inside";
  door.exit();
  ASSERT_EQ(claim::held, raid());
  EXPECT_FALSE(release(door)) << "its claimer was inside";
  ASSERT_TRUE(door.end_claim());
  EXPECT_TRUE(release(door));
  EXPECT_EQ(s::idle, door.state());
  ASSERT_TRUE(door.try_acquire());
  open();
  EXPECT_TRUE(release(door));
  EXPECT_FALSE(door.is_open());
  ASSERT_TRUE(door.try_drain());
  EXPECT_FALSE(release(door)) << "its drainer was inside";
  gate unmade;
  EXPECT_FALSE(release(unmade)) << "its maker was not done";
}

TEST_F(a_gate, in_a_forked_child_only_what_its_own_thread_gave_away_stays_reserved) {
  for (const std::uint32_t giver : {7u, 8u}) {
    gate g;
    g.make(1000, key);
    ASSERT_TRUE(g.try_acquire(giver));
    ASSERT_EQ(claim::held, g.try_claim(barrier()));
    ASSERT_TRUE(g.give_way());
    ASSERT_FALSE(g.end_claim());
    g.settle(pending(), drain());
    EXPECT_TRUE(g.release_in_child(7, 9));
    EXPECT_EQ(giver == 7 ? 9 : gate::unnumbered, g.reserved_for());
  }
}

}  // namespace
}  // namespace polder
