// An object that takes the value of a younger one, while somebody reads it.
#include <gtest/gtest.h>

#include <atomic>

#include <polder/smr/all.hpp>
#include <polder/smr/schemes_test.hpp>
#include <semaphore>
#include <thread>

namespace {

using namespace polder;
using namespace polder::smr;

template <class Scheme>
struct era_schemes : testing::Test {};
using with_eras = tests_of<type_list<hazard_eras, interval, wait_free_eras>>::types;
TYPED_TEST_SUITE(era_schemes, with_eras, names_of_schemes);

TYPED_TEST(era_schemes, what_is_read_stays_though_it_takes_the_value_of_what_was_made_later) {
  using guard = typename TypeParam::template guard<1>;
  struct node : TypeParam::header {
    std::atomic<int>* gone = nullptr;
    node() = default;
    node& operator=(const node&) = default;
    ~node() {
      if (gone != nullptr) ++*gone;
    }
  };
  std::atomic<int> gone{0};
  typename TypeParam::domain d;
  const auto some = [&](auto last) {
    guard g(d);
    for (int n = 0; n != 1000; ++n) g.retire(g.template make<node>());
    last(g);
  };
  polder::atomic<node*> shared{nullptr};
  some([&](guard& g) { shared.store(g.template make<node>(), order::release); });
  std::binary_semaphore reads{0}, enough{0};
  std::thread reader([&] {
    guard g(d);
    node* const n = g.protect(0, shared);
    reads.release();
    enough.acquire();
    EXPECT_EQ(n->gone, &gone);
    EXPECT_EQ(gone, 0);
  });
  reads.acquire();
  some([&](guard& g) {
    node* const younger = g.template make<node>();
    younger->gone = &gone;
    *shared.load(order::relaxed) = *younger;
    younger->gone = nullptr;
    g.retire(younger);
    g.retire(shared.load(order::relaxed));
    shared.store(nullptr, order::relaxed);
  });
  for (int n = 0; n != 10; ++n) some([](guard&) {});
  enough.release();
  reader.join();
  d.drain();
  EXPECT_EQ(gone, 1);
}

}  // namespace
