// memory_of: nodes and cells that ask for more than malloc's alignment have it, and give back what they took.
#include <polder/ds/parts/memory.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include <polder/ds/queue/ms_queue.hpp>
#include <polder/ds/queue/vyukov_ring.hpp>
#include <polder/ds/tree/eager_test.hpp>

namespace polder::ds {
namespace {

// An element that looks where it is made.
struct alignas(64) wide {
  static inline long misplaced = 0;
  long n;
  explicit wide(long i) noexcept : n(i) { look(); }
  wide(wide&& other) noexcept : n(other.n) { look(); }
  wide& operator=(wide&&) = default;

 private:
  void look() noexcept {
    const volatile auto at = reinterpret_cast<std::uintptr_t>(this);  // which the compiler takes for aligned
    misplaced += at % alignof(wide) != 0;
  }
};

// Malloc's alignment and no more.
long bytes_in_use = 0;
template <class T>
struct plain_allocator {
  using value_type = T;
  plain_allocator() = default;
  template <class U>
  plain_allocator(const plain_allocator<U>&) noexcept {}
  T* allocate(std::size_t n) {
    void* const p = std::malloc(n * sizeof(T));
    if (p == nullptr) throw std::bad_alloc();
    bytes_in_use += long(n * sizeof(T));
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t n) noexcept {
    bytes_in_use -= long(n * sizeof(T));
    std::free(p);
  }
  friend bool operator==(plain_allocator, plain_allocator) { return true; }
};

template <class C>
void put_and_get(C& c) {
  wide::misplaced = 0;
  for (long i = 0; i != 64; ++i) ASSERT_TRUE(c.put(wide(i)));
  for (long i = 0; i != 32; ++i) ASSERT_EQ(c.get()->n, i);
  EXPECT_EQ(wide::misplaced, 0);
}

template <class Memory>
class memory_of_wide : public ::testing::Test {};
using memories = ::testing::Types<memory_of<std::allocator<std::byte>>, memory_of<plain_allocator<std::byte>>>;
TYPED_TEST_SUITE(memory_of_wide, memories);

TYPED_TEST(memory_of_wide, nodes_are_aligned) {
  {
    eager::drained<eager::leaky> domain;
    ms_queue<wide, eager::leaky, TypeParam> q(domain);
    put_and_get(q);
  }
  EXPECT_EQ(bytes_in_use, 0);
}

TYPED_TEST(memory_of_wide, cells_are_aligned) {
  {
    vyukov_ring<wide, eager::leaky, TypeParam> ring(64);
    put_and_get(ring);
  }
  EXPECT_EQ(bytes_in_use, 0);
}

}  // namespace
}  // namespace polder::ds
