// The efficient checkers say what the search for a linearization says, of many small histories that are nearly right.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <sstream>

#include <polder/base/sanitizers.hpp>

#include "checker/k_out_of_order.hpp"
#include "checker/local.hpp"
#include "checker/quiescent.hpp"
#include "checker/small_test.hpp"

namespace polder::checker {
namespace {

using kind = small_histories::kind;

#if POLDER_SANITIZED
constexpr unsigned histories = 2000;
#else
constexpr unsigned histories = 10000;
#endif

// More by hand: CHECKER_HISTORIES=10000000.
unsigned how_many() {
  const char* asked = std::getenv("CHECKER_HISTORIES");
  return asked != nullptr ? unsigned(std::strtoul(asked, nullptr, 10)) : histories;
}

std::string text(const history& h) {
  std::ostringstream out;
  for (std::size_t t = 0; t != h.size(); ++t) {
    for (const event& e : h[t]) {
      out << "thread " << t
          << (e.what == call::put   ? " put "
              : e.what == call::get ? " get "
                                    : " empty ")
          << e.value << (e.at == side::left ? "" : " right") << " [" << e.from << ", " << e.to << "]\n";
    }
  }
  return out.str();
}

class agreement : public ::testing::Test {
 protected:
  // Both answers must be common, or little was asked.
  template <class Fast, class Slow>
  void agree(std::initializer_list<kind> kinds, Fast fast, Slow slow, unsigned most = 12) {
    small_histories made(seed_, most);
    unsigned held = 0, asked = 0;
    for (unsigned i = 0; i != how_many(); ++i) {
      const history h = made.next(*(kinds.begin() + i % kinds.size()));
      const bool answer = slow(h);
      ASSERT_EQ(fast(h), answer) << "seed " << seed_ << ", history " << i << "\n" << text(h);
      held += answer, ++asked;
    }
    EXPECT_GT(held, asked / 20);
    EXPECT_LT(held, asked - asked / 20);
    RecordProperty("held", int(held));
  }

  std::uint64_t seed_ = std::random_device{}();
};

TEST_F(agreement, queue) {
  agree({kind::queue, kind::queue, kind::stack, kind::pool}, is_queue,
        [](const history& h) { return linearizable(sequential_queue(), h); });
}

TEST_F(agreement, stack) {
  agree({kind::stack, kind::stack, kind::queue, kind::pool}, is_stack,
        [](const history& h) { return linearizable(sequential_stack(), h); });
}

TEST_F(agreement, pool) {
  agree({kind::pool, kind::queue}, is_pool, [](const history& h) { return linearizable(sequential_pool(), h); });
}

// That empties are a matter of their own holds of a deque too, though no other part of its checking is efficient.
TEST_F(agreement, empties_of_a_deque_and_of_k_out_of_order) {
  const auto without_empties = [](history h) {
    for (std::vector<event>& part : h) std::erase_if(part, [](const event& e) { return e.what == call::empty; });
    return h;
  };
  const auto exact = [](const history& h) {
    const elements of = elements_of(h);
    return bool(emptiness_of(of.all, of.empties).exact());
  };
  agree(
      {kind::deque}, [&](const history& h) { return exact(h) && deque(without_empties(h)); },
      [](const history& h) { return bool(deque(h)); });
  for (const std::size_t k : {1, 2}) {
    agree(
        {kind::pool},
        [&](const history& h) { return exact(h) && linearizable(sequential_queue(k), without_empties(h)); },
        [&](const history& h) { return linearizable(sequential_queue(k), h); });
    agree(
        {kind::pool},
        [&](const history& h) { return exact(h) && linearizable(sequential_stack(k), without_empties(h)); },
        [&](const history& h) { return linearizable(sequential_stack(k), h); });
  }
}

// The least k lies between the bounds, and the lower one is exact at a queue's 0.
TEST_F(agreement, k_lies_between_its_bounds) {
  small_histories made(seed_);
  unsigned tight = 0, asked = 0, relaxed = 0;
  for (unsigned i = 0; i != how_many(); ++i) {
    history h = made.next(kind::pool);
    for (std::vector<event>& part : h) std::erase_if(part, [](const event& e) { return e.what == call::empty; });
    const elements of = elements_of(h);
    if (!of.sane()) continue;
    for (const order_of o : {order_of::queue, order_of::stack}) {
      const auto holds = [&](std::size_t k) {
        return o == order_of::queue ? linearizable(sequential_queue(k), h) : linearizable(sequential_stack(k), h);
      };
      const std::size_t least = certain_k(of.all, o), most = sufficient_k(of.all, o);
      ASSERT_LE(least, most);
      ASSERT_TRUE(holds(most)) << most << "\n" << text(h);
      if (least != 0) {
        ASSERT_FALSE(holds(least - 1)) << least << "\n" << text(h);
        ++relaxed;
      }
      if (o == order_of::queue) {
        ASSERT_EQ(least == 0, holds(0)) << text(h);
      }
      tight += least == most, ++asked;
    }
  }
  EXPECT_GT(relaxed, asked / 20);
  EXPECT_GT(tight, asked / 4);
}

// What overtook what, by the words of the definition.
TEST_F(agreement, overtakings) {
  small_histories made(seed_);
  for (unsigned i = 0; i != how_many(); ++i) {
    const elements of = elements_of(made.next(kind::pool));
    if (!of.sane()) continue;
    const std::vector<element>& all = of.all;
    for (const order_of o : {order_of::queue, order_of::stack}) {
      std::vector<std::uint32_t> overtook(all.size()), was_overtaken(all.size());
      for (std::size_t x = 0; x != all.size(); ++x) {
        for (std::size_t y = 0; y != all.size(); ++y) {
          if (!all[x].was_got() || all[y].get_from <= all[x].get_to) continue;
          if (o == order_of::queue ? all[y].put_to < all[x].put_from
                                   : all[x].put_to < all[y].put_from && all[y].put_to < all[x].get_from)
            ++overtook[x], was_overtaken[y] += all[y].was_got();
        }
      }
      ASSERT_EQ(overtakings::overtook(all, o), overtook) << "seed " << seed_;
      ASSERT_EQ(overtakings::was_overtaken(all, o), was_overtaken) << "seed " << seed_;
    }
  }
}

// Each thread's part of the history, by the search.
TEST_F(agreement, local_queue_and_stack) {
  const auto of_each_thread = [](const history& h, auto spec, bool empties) {
    for (const std::vector<event>& own : h) {
      const auto is_own = [&](const event& e) {
        return std::any_of(own.begin(), own.end(),
                           [&](const event& p) { return p.what == call::put && p.value == e.value; });
      };
      history part(1);
      for (const std::vector<event>& p : h) {
        for (const event& e : p) {
          if (e.what == call::empty ? empties : is_own(e)) part[0].push_back(e);
        }
      }
      if (!linearizable(spec, part)) return false;
    }
    return true;
  };
  const auto sane = [](const history& h) { return bool(elements_of(h).sane()); };
  agree(
      {kind::queue, kind::pool},
      [](const history& h) {
        const elements of = elements_of(h);
        return of.sane() && local(of.all, queue);
      },
      [&](const history& h) { return sane(h) && of_each_thread(h, sequential_queue(), false); });
  agree(
      {kind::stack, kind::pool},
      [](const history& h) {
        const elements of = elements_of(h);
        return of.sane() && local(of.all, stack) && local_emptiness(of.all, of.empties);
      },
      [&](const history& h) { return sane(h) && of_each_thread(h, sequential_stack(), true); });
}

// Quiescent moments cut a history; within a piece every order is tried.
TEST_F(agreement, quiescent_queue_and_stack) {
  const auto widened = [](history h) {
    for (bool grows = true; grows;) {
      grows = false;
      for (std::vector<event>& a : h) {
        for (event& e : a) {
          for (const std::vector<event>& b : h) {
            for (const event& f : b) {
              if (f.to < e.from || e.to < f.from || (e.from <= f.from && f.to <= e.to)) continue;
              e.from = std::min(e.from, f.from), e.to = std::max(e.to, f.to);
              grows = true;
            }
          }
        }
      }
    }
    return h;
  };
  const auto fast = [](auto order) {
    return [order](const history& h) {
      const elements plain = elements_of(h);
      if (!plain.invented.empty() || !plain.doubled.empty()) return false;
      const elements of = quiescent(plain).of;
      return of.sane() && order(of.all) && emptiness_of(of.all, of.empties).exact();
    };
  };
  agree(
      {kind::queue, kind::pool}, fast(queue),
      [&](const history& h) { return linearizable(sequential_queue(), widened(h)); }, 8);
  agree(
      {kind::stack, kind::pool}, fast(stack),
      [&](const history& h) { return linearizable(sequential_stack(), widened(h)); }, 8);
}

}  // namespace
}  // namespace polder::checker
