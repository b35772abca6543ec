// block_list in the child of a fork that came while its owner was between two blocks.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <new>
#include <thread>

#include <polder/base/sanitizers.hpp>
#include <polder/ds/cut_off_test.hpp>
#include <polder/ds/pool/block_list.hpp>
#include <polder/ds/tree/eager_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds {
namespace {

// The owner has linked the next block and not gone to it. What it left is taken, and who goes on for it loses nothing.
TEST(block_list_fork, an_owner_that_is_gone_has_its_last_block_in_the_list) {
#if POLDER_SANITIZED
  GTEST_SKIP() << "the sanitizer's allocator may be locked in the child by the thread that is not there";
#endif
  using list = block_list<long, smr::debra>;
  constexpr long a_block = 64;
  alignas(4096 * 16) static std::byte place[4096 * 16];
  static_assert(sizeof(list) <= sizeof place);
  stops_at_a_write stopped;
  eager::drained<smr::debra> d;
  list& l = *new (place) list(d);
  const auto put = [&](long n) { return l.insert(n); };
  const auto take = [&] {
    std::uint64_t seen;
    return l.remove(seen);
  };
  static_cast<void>(smr::thread_slot::mine());
  std::thread putter([&] {
    for (long n = 0; n != a_block; ++n) put(n);
    stopped.at({place, sizeof place});
    put(a_block);
  });
  stopped.wait();
  EXPECT_EQ(os::fine, os::forked([&] {
              stopped.forget();
              for (long n = 0; n != a_block; ++n)
                if (!take()) return 1;
              if (take()) return 2;
              for (long n = 0; n != 2 * a_block; ++n) put(n);
              for (long n = 0; n != 2 * a_block; ++n)
                if (!take()) return 3;
              return take() ? 4 : 0;
            }));
  stopped.go_on();
  putter.join();
  for (long n = 0; n != a_block + 1; ++n) EXPECT_TRUE(take());
  EXPECT_FALSE(take());
  l.~list();
}

}  // namespace
}  // namespace polder::ds
