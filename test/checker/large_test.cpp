// Long histories of many threads: a right one is accepted, and one wrong pair among thousands is found.
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include <polder/base/sanitizers.hpp>

#include "checker/small_test.hpp"

namespace polder::checker {
namespace {

#if POLDER_SANITIZED
constexpr unsigned operations = 4000;
#else
constexpr unsigned operations = 40000;
#endif
constexpr unsigned threads = 16;

// One operation a thread at a time, each taking effect at a moment of its own within it; the structure is filled, then
// used.
template <bool Lifo>
history made(probe::random& random) {
  history h(threads);
  std::deque<std::uint64_t> inside;
  std::vector<std::uint64_t> free(threads);
  std::uint64_t now = 0, value = 0;
  for (unsigned i = 0; i != operations; ++i) {
    const unsigned t = unsigned(random.below(threads));
    now = std::max(now, free[t]) + 1 + random.below(3);
    const std::uint64_t from = std::max(free[t], now - std::min(now, random.below(30)));
    const std::uint64_t to = now + random.below(30);
    free[t] = to + 1;
    const bool puts = random.below(100) < (i < operations / 4 ? 80u : i % 4000 < 2000 ? 40u : 60u);
    if (puts) {
      inside.push_back(++value);
      h[t].push_back(put(value, from, to));
    } else if (inside.empty()) {
      h[t].push_back(empty(from, to));
    } else {
      h[t].push_back(get(Lifo ? inside.back() : inside.front(), from, to));
      if (Lifo) inside.pop_back();
      else inside.pop_front();
    }
  }
  return h;
}

// Exchanges two gets such that the two values alone show it.
bool spoil(history& h, bool lifo, probe::random& random) {
  const elements of = elements_of(h);
  for (unsigned tries = 0; tries != 1'000'000; ++tries) {
    const element& a = of.all[random.below(of.all.size())];
    const element& b = of.all[random.below(of.all.size())];
    if (!a.was_got() || !b.was_got() || a.put_to >= b.put_from) continue;
    if (b.put_to >= std::min(a.get_from, b.get_from)) continue;
    if (lifo ? b.get_to >= a.get_from : a.get_to >= b.get_from) continue;
    for (std::vector<event>& part : h) {
      for (event& e : part) {
        if (e.what == call::get && (e.value == a.value || e.value == b.value))
          e.value = a.value + b.value - e.value;
      }
    }
    return true;
  }
  return false;
}

TEST(large, right_and_wrong) {
  const std::uint64_t seed = std::random_device{}();
  probe::random random(seed);
  history q = made<false>(random);
  EXPECT_TRUE(is_queue(q)) << seed;
  EXPECT_FALSE(is_stack(q)) << seed;
  ASSERT_TRUE(spoil(q, false, random)) << seed;
  EXPECT_FALSE(is_queue(q)) << seed;
  history s = made<true>(random);
  EXPECT_TRUE(is_stack(s)) << seed;
  EXPECT_FALSE(is_queue(s)) << seed;
  ASSERT_TRUE(spoil(s, true, random)) << seed;
  EXPECT_FALSE(is_stack(s)) << seed;
}

}  // namespace
}  // namespace polder::checker
