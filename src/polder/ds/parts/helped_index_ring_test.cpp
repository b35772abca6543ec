// helped_index_ring: helpers that are late, one step at a time.
#include <polder/ds/parts/helped_index_ring.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include <polder/ds/parts/per_thread.hpp>
#include <polder/ds/standstill_test.hpp>

namespace polder::ds {
namespace {

using ring = helped_index_ring<heap_memory, per_thread, parks>;
constexpr ring::options slow{.patience = 0, .helping_delay = 1, .most_threads = 4};

// A call of one more thread, which stands still somewhere.
template <class F>
std::thread stopped(standstill& still, F f) {
  std::thread t([&still, f] {
    parks::mine = &still;
    f();
  });
  still.there.acquire();
  return t;
}

std::vector<ring::index> rest(ring& r) {
  std::vector<ring::index> all;
  for (ring::index i; (i = r.get()) != r.none();) all.push_back(i);
  return all;
}

// Numbers of threads are given out here. One looks at another by its turn, from number 1 on.
TEST(helped_index_ring, a_late_helper_does_not_enter_what_an_earlier_request_was_for) {
  ring r(4, ring::at_first::empty, slow);
  for (const unsigned n : {1, 2}) r.admit(n);
  r.put(3, 1);
  ASSERT_EQ(r.get(1), 3u);
  standstill first{helped_step::announced, 0}, late{helped_step::helps, 0}, second{helped_step::announced, 1};
  std::thread putter([&] {
    parks::mine = &first;
    r.put(0, 1);
    parks::mine = &second;  // in its next put
    EXPECT_EQ(r.get(1), 0u);
    r.put(2, 1);
    EXPECT_EQ(r.get(1), 2u);
    parks::mine = nullptr;
  });
  first.there.acquire();
  std::thread helper = stopped(late, [&] { EXPECT_EQ(r.get(2), r.none()); });
  first.go_on.release();
  second.there.acquire();
  late.go_on.release();
  helper.join();
  second.go_on.release();
  putter.join();
  EXPECT_TRUE(rest(r).empty());
}

// The entry of ticket 8 has an index from a round before, whose getter stands still. Owner and helper of a put are both at
// that entry; the owner leaves it for the next one, then the entry becomes free: the helper must not enter there.
TEST(helped_index_ring, who_leaves_an_entry_leaves_it_for_all_who_help) {
  ring r(2, ring::at_first::empty, slow);
  for (const unsigned n : {1, 2, 3}) r.admit(n);
  r.put(0, 1);
  standstill taking{helped_step::over, 0}, owner{helped_step::undecided, 0}, helper{helped_step::undecided, 0};
  std::thread getter = stopped(taking, [&] { EXPECT_EQ(r.get(3), 0u); });
  for (int i = 0; i != 3; ++i) {
    r.put(1, 1);
    ASSERT_EQ(r.get(1), 1u);
  }
  std::thread putter = stopped(owner, [&] { r.put(1, 1); });
  std::thread late = stopped(helper, [&] { r.get(2); });
  owner.go_on.release();
  putter.join();
  taking.go_on.release();
  getter.join();
  r.put(0, 3);
  helper.go_on.release();
  late.join();
  EXPECT_EQ(rest(r), std::vector<ring::index>{0});
}

}  // namespace
}  // namespace polder::ds
