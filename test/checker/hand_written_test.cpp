// Histories written by hand: what each checker must accept, and what it must not.
#include <gtest/gtest.h>

#include "checker/conservation.hpp"
#include "checker/k_out_of_order.hpp"
#include "checker/lateness.hpp"
#include "checker/local.hpp"
#include "checker/pool.hpp"
#include "checker/promise.hpp"
#include "checker/quiescent.hpp"
#include "checker/small_test.hpp"

namespace polder::checker {
namespace {

history alone(std::vector<event> events) { return {std::move(events)}; }

TEST(conservation, lost_invented_doubled) {
  EXPECT_TRUE(conservation(elements_of(alone({put(1, 0, 1), get(1, 2, 3)}))));
  const verdict lost = conservation(elements_of(alone({put(1, 0, 1), put(2, 2, 3), get(1, 4, 5)})));
  EXPECT_EQ(lost.wrong, "1 lost, value 2 among them");
  const verdict invented = conservation(elements_of(alone({put(1, 0, 1), get(1, 2, 3), get(2, 4, 5)})));
  EXPECT_EQ(invented.wrong, "value 2 came out and was never put");
  const verdict doubled = conservation(elements_of(alone({put(1, 0, 1), get(1, 2, 3), get(1, 4, 5)})));
  EXPECT_EQ(doubled.wrong, "value 1 came out more than once");
}

TEST(pool, any_order_but_not_before_it_was_put) {
  EXPECT_TRUE(pool(elements_of(alone({put(1, 0, 1), put(2, 2, 3), put(3, 4, 5), get(2, 6, 7), get(1, 8, 9)}))));
  EXPECT_TRUE(pool(elements_of(alone({get(1, 0, 2), put(1, 2, 3)}))));
  EXPECT_FALSE(pool(elements_of(alone({get(1, 0, 1), put(1, 2, 3)}))));
}

TEST(queue, first_in_first_out) {
  EXPECT_TRUE(is_queue(alone({put(1, 0, 1), put(2, 2, 3), get(1, 4, 5), get(2, 6, 7), empty(8, 9)})));
  EXPECT_FALSE(is_queue(alone({put(1, 0, 1), put(2, 2, 3), get(2, 4, 5), get(1, 6, 7)})));
  // 1 is never got, and 2 was.
  EXPECT_FALSE(is_queue(alone({put(1, 0, 1), put(2, 2, 3), get(2, 4, 5)})));
  // Puts at the same time, or gets.
  EXPECT_TRUE(is_queue(alone({put(1, 0, 2), put(2, 1, 3), get(2, 4, 5), get(1, 6, 7)})));
  EXPECT_TRUE(is_queue(alone({put(1, 0, 1), put(2, 2, 3), get(2, 4, 6), get(1, 5, 7)})));
  // The return of the one and the call of the other at the same moment overlap.
  EXPECT_TRUE(is_queue(alone({put(1, 0, 2), put(2, 2, 3), get(2, 4, 5), get(1, 6, 7)})));
}

TEST(stack, last_in_first_out) {
  EXPECT_TRUE(is_stack(alone({put(1, 0, 1), put(2, 2, 3), get(2, 4, 5), get(1, 6, 7), empty(8, 9)})));
  EXPECT_FALSE(is_stack(alone({put(1, 0, 1), put(2, 2, 3), get(1, 4, 5), get(2, 6, 7)})));
  EXPECT_TRUE(is_stack(alone({put(1, 0, 1), put(2, 2, 3), get(2, 4, 5)})));
  EXPECT_FALSE(is_stack(alone({put(1, 0, 1), put(2, 2, 3), get(1, 4, 5)})));
  // 2 may have been put after 1 was got.
  EXPECT_TRUE(is_stack(alone({put(1, 0, 1), put(2, 2, 6), get(1, 4, 5), get(2, 7, 8)})));
}

// No two of them are wrong by themselves. If 2 was put after 1 was got, 3 was still on 1; if before, 2 was.
TEST(stack, three_of_which_any_two_are_right) {
  const event put1 = put(1, 0, 1), put2 = put(2, 2, 7), put3 = put(3, 2, 5);
  const event get1 = get(1, 6, 9), get2 = get(2, 13, 14), get3 = get(3, 8, 12);
  EXPECT_TRUE(is_stack(alone({put1, put2, get1, get2})));
  EXPECT_TRUE(is_stack(alone({put1, put3, get1, get3})));
  EXPECT_TRUE(is_stack(alone({put2, put3, get2, get3})));
  EXPECT_FALSE(is_stack(alone({put1, put2, put3, get1, get2, get3})));
}

TEST(emptiness, nothing_was_inside_at_some_moment) {
  EXPECT_TRUE(is_pool(alone({put(1, 0, 3), empty(2, 4), get(1, 5, 6)})));
  EXPECT_FALSE(is_pool(alone({put(1, 0, 1), empty(2, 4), get(1, 5, 6)})));
  EXPECT_TRUE(is_pool(alone({put(1, 0, 1), empty(2, 4), get(1, 3, 6)})));
  // 1 leaves when 2 has long come: one or the other is inside all the time.
  EXPECT_FALSE(is_pool(alone({put(1, 0, 1), put(2, 3, 4), empty(2, 9), get(1, 5, 6), get(2, 10, 11)})));
  EXPECT_TRUE(is_pool(alone({put(1, 0, 1), put(2, 3, 5), empty(2, 9), get(1, 5, 6), get(2, 10, 11)})));
  const elements of =
      elements_of(alone({put(1, 0, 1), empty(2, 3), empty(4, 6), empty(8, 9), get(1, 5, 7), empty(2, 4)}));
  const emptiness found = emptiness_of(of.all, of.empties);
  EXPECT_EQ(found.asked, 4u);
  EXPECT_EQ(found.wrong, 2u);
  EXPECT_NE(found.exact().wrong.find("2 of 4"), std::string::npos);
}

TEST(emptiness, by_number) {
  const auto is_counted = [](std::vector<event> events) {
    return kept({ds::shape::pool, ds::semantics::pool, ds::emptiness::counted},
                elements_of(alone(std::move(events))))
        .holds();
  };
  // The get that is at work takes what is put later; what was inside goes to a get that was called after the answer.
  const std::vector<event> left_to_another = {put(1, 0, 1), get(2, 2, 9), empty(3, 4), put(2, 5, 6), get(1, 7, 8)};
  EXPECT_FALSE(is_pool(alone(left_to_another)));
  EXPECT_TRUE(is_counted(left_to_another));
  EXPECT_FALSE(is_counted({put(1, 0, 1), empty(2, 4), get(1, 5, 6)}));
  EXPECT_TRUE(is_counted({put(1, 0, 1), empty(2, 4), get(1, 3, 6)}));
  // Two are inside, and one get is at work.
  EXPECT_FALSE(is_counted({put(1, 0, 1), put(2, 0, 1), get(2, 2, 9), empty(3, 4), get(1, 7, 8)}));
}

TEST(emptiness, undisturbed) {
  const auto alone_at = [](std::vector<event> events) {
    std::vector<std::uint64_t> found;
    for (const moments& m : undisturbed(elements_of(alone(std::move(events))))) found.push_back(m.from);
    return found;
  };
  using calls = std::vector<std::uint64_t>;
  EXPECT_EQ(alone_at({empty(0, 1), put(1, 2, 3), empty(4, 5)}), (calls{0, 4}));
  EXPECT_EQ(alone_at({empty(0, 2), put(1, 2, 9), empty(4, 5), empty(10, 11)}), (calls{10}));
  EXPECT_EQ(alone_at({empty(1, 3), empty(2, 4)}), (calls{}));
  const elements of = elements_of(alone({put(1, 0, 1), empty(2, 3), get(1, 4, 5)}));
  EXPECT_FALSE(kept({ds::shape::pool, ds::semantics::pool, ds::emptiness::may_err}, of));
  const elements beside = elements_of(alone({put(1, 0, 1), put(2, 2, 3), empty(2, 3), get(1, 4, 5), get(2, 6, 7)}));
  EXPECT_TRUE(kept({ds::shape::pool, ds::semantics::pool, ds::emptiness::may_err}, beside));
}

TEST(deque, both_ends) {
  using enum side;
  EXPECT_TRUE(deque(alone({put(1, 0, 1, left), put(2, 2, 3, left), get(1, 4, 5, right), get(2, 6, 7, right)})));
  EXPECT_TRUE(deque(alone({put(1, 0, 1, left), put(2, 2, 3, right), get(1, 4, 5, left), get(2, 6, 7, left)})));
  EXPECT_FALSE(deque(alone({put(1, 0, 1, left), put(2, 2, 3, right), get(2, 4, 5, left)})));
  EXPECT_FALSE(deque(alone({put(1, 0, 1, left), empty(2, 3, right), get(1, 4, 5, left)})));
  EXPECT_TRUE(deque(alone({put(1, 0, 1, left), put(2, 2, 3, right), get(2, 4, 5, left)}), 1));
}

TEST(k_out_of_order, certain_overtakings) {
  const auto k = [](const history& h, order_of o) { return certain_k(elements_of(h).all, o); };
  const history third_first =
      alone({put(1, 0, 1), put(2, 2, 3), put(3, 4, 5), get(3, 6, 7), get(1, 8, 9), get(2, 10, 11)});
  EXPECT_EQ(k(third_first, order_of::queue), 2u);
  EXPECT_EQ(k(third_first, order_of::stack), 1u);
  EXPECT_EQ(sufficient_k(elements_of(third_first).all, order_of::queue), 2u);
  // 2 was not certainly inside when 3 came.
  EXPECT_EQ(k(alone({put(1, 0, 1), put(2, 2, 9), put(3, 4, 5), get(3, 6, 7), get(1, 10, 11), get(2, 12, 13)}),
              order_of::queue),
            1u);
  // Never got is overtaken too.
  EXPECT_EQ(k(alone({put(1, 0, 1), put(2, 2, 3), get(2, 4, 5)}), order_of::queue), 1u);
  EXPECT_EQ(k({}, order_of::stack), 0u);
}

TEST(lateness, by_whom_and_of_whom) {
  const elements of = elements_of(alone(
      {put(1, 0, 1), put(2, 2, 3), put(3, 4, 5), get(3, 6, 7), get(2, 8, 9), get(1, 10, 11), put(4, 12, 13)}));
  EXPECT_EQ(overtakings::overtook(of.all, order_of::queue), (std::vector<std::uint32_t>{0, 1, 2, 0}));
  EXPECT_EQ(overtakings::was_overtaken(of.all, order_of::queue), (std::vector<std::uint32_t>{2, 1, 0, 0}));
  const lateness l = lateness_of(of.all, order_of::queue);
  EXPECT_DOUBLE_EQ(l.age.mean, 1);
  EXPECT_EQ(l.age.p50, 1u);
  EXPECT_EQ(l.late.max, 2u);
  const lateness none = lateness_of(of.all, order_of::stack);
  EXPECT_EQ(none.age.max, 0u);
}

TEST(local, each_putter_for_itself) {
  const auto is_local = [](const history& h) { return local(elements_of(h).all, queue).holds(); };
  const std::vector<event> gets = {get(3, 10, 11), get(4, 12, 13), get(1, 14, 15), get(2, 16, 17)};
  const history good = {{put(1, 0, 1), put(2, 2, 3)}, {put(3, 4, 5), put(4, 6, 7)}, gets};
  EXPECT_FALSE(is_queue(good));
  EXPECT_TRUE(is_local(good));
  const history bad = {{put(3, 0, 1), put(1, 2, 3)}, {put(4, 4, 5), put(2, 6, 7)}, gets};
  EXPECT_TRUE(is_local(bad));
  const history worse = {{put(1, 0, 1), put(3, 2, 3)}, {put(4, 4, 5), put(2, 6, 7)}, gets};
  EXPECT_FALSE(is_local(worse));
}

TEST(local, empties_of_each_putter) {
  // Something of the one or the other is inside all the time, of neither alone.
  const elements of = elements_of({{put(1, 0, 1), get(1, 6, 7)}, {put(2, 3, 4), get(2, 10, 11)}, {empty(2, 9)}});
  EXPECT_FALSE(emptiness_of(of.all, of.empties).exact());
  EXPECT_TRUE(local_emptiness(of.all, of.empties));
  const elements own = elements_of({{put(1, 0, 1), get(1, 6, 7)}, {empty(2, 5)}});
  EXPECT_FALSE(local_emptiness(own.all, own.empties));
}

TEST(quiescent, order_between_quiescent_moments_alone) {
  const auto is_quiescent = [](const history& h) { return queue(quiescent(elements_of(h)).of.all).holds(); };
  // 3 lasts over both puts, so they may be exchanged.
  const history one_round = {
      {put(1, 0, 1), put(2, 2, 3)}, {put(3, 0, 4)}, {get(2, 6, 7), get(1, 8, 9), get(3, 10, 11)}};
  EXPECT_FALSE(is_queue(one_round));
  EXPECT_TRUE(is_quiescent(one_round));
  EXPECT_EQ(quiescent(elements_of(one_round)).count, 4u);
  const history two_rounds = {
      {put(1, 0, 1), put(2, 3, 4)}, {put(3, 0, 2)}, {get(2, 6, 7), get(1, 8, 9), get(3, 10, 11)}};
  EXPECT_FALSE(is_quiescent(two_rounds));
}

TEST(promise, says_which_was_broken) {
  const elements of = elements_of(
      alone({put(1, 0, 1), put(2, 2, 3), get(2, 4, 5), empty(6, 7), put(3, 6, 13), get(1, 8, 9), get(3, 14, 15)}));
  const auto wrong = [&](ds::shape s, ds::semantics order, ds::emptiness e, std::size_t k = 0) {
    return kept({s, order, e, k}, of).wrong;
  };
  using ds::emptiness, ds::semantics, ds::shape;
  EXPECT_NE(wrong(shape::stack, semantics::linearizable, emptiness::exact), "");
  EXPECT_EQ(wrong(shape::stack, semantics::linearizable, emptiness::may_err), "");
  EXPECT_NE(wrong(shape::queue, semantics::linearizable, emptiness::may_err), "");
  EXPECT_NE(wrong(shape::queue, semantics::quiescently_consistent, emptiness::may_err), "");
  EXPECT_NE(wrong(shape::queue, semantics::locally_linearizable, emptiness::may_err), "");
  EXPECT_EQ(wrong(shape::queue, semantics::pool, emptiness::may_err), "");
  EXPECT_EQ(wrong(shape::queue, semantics::k_out_of_order, emptiness::may_err, 0),
            "an element overtook 1, and k is 0");
  EXPECT_EQ(wrong(shape::queue, semantics::k_out_of_order, emptiness::may_err, 1), "");
}

TEST(promise, searched_in_small) {
  const history h = alone({put(1, 0, 1), put(2, 2, 3), put(3, 4, 5), get(2, 6, 7), empty(8, 9), get(3, 10, 11)});
  const auto holds = [&](ds::shape s, ds::semantics order, ds::emptiness e, std::size_t k = 0) {
    return searched({s, order, e, k}, h).holds();
  };
  using ds::emptiness, ds::semantics, ds::shape;
  EXPECT_FALSE(holds(shape::pool, semantics::pool, emptiness::exact));
  EXPECT_TRUE(holds(shape::pool, semantics::pool, emptiness::may_err));
  EXPECT_FALSE(holds(shape::queue, semantics::linearizable, emptiness::may_err));
  EXPECT_FALSE(holds(shape::queue, semantics::k_out_of_order, emptiness::exact, 1));
  EXPECT_TRUE(holds(shape::queue, semantics::k_out_of_order, emptiness::may_err, 1));
  EXPECT_TRUE(holds(shape::stack, semantics::k_out_of_order, emptiness::may_err, 1));
  EXPECT_FALSE(holds(shape::stack, semantics::linearizable, emptiness::may_err));
  EXPECT_FALSE(holds(shape::deque, semantics::linearizable, emptiness::may_err));
}

}  // namespace
}  // namespace polder::checker
