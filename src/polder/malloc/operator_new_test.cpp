#include <gtest/gtest.h>
#include <polder.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace {

// More than there is, in a way that no compiler sees.
std::size_t too_much(std::size_t n = PTRDIFF_MAX) {
  volatile std::size_t unseen = n;
  return unseen;
}

constexpr auto wide = std::align_val_t(256);

int calls = 0;

struct with_handler {
  explicit with_handler(std::new_handler h) : before(std::set_new_handler(h)) { calls = 0; }
  ~with_handler() { std::set_new_handler(before); }
  std::new_handler before;
};

void give_up_the_third_time() {
  if (++calls == 3) std::set_new_handler(nullptr);
}

void throws() {
  ++calls;
  throw std::bad_alloc();
}

struct other {};
void throws_something_else() { throw other(); }

TEST(operator_new, every_form_gives_a_block_of_this_heap_and_every_delete_takes_it) {
  struct pair {
    void* block;
    void (*free)(void*);
  };
  const pair pairs[] = {
      {operator new(40), [](void* p) { operator delete(p); }},
      {operator new(40), [](void* p) { operator delete(p, std::size_t{40}); }},
      {operator new[](40), [](void* p) { operator delete[](p); }},
      {operator new[](40), [](void* p) { operator delete[](p, std::size_t{40}); }},
      {operator new(40, std::nothrow), [](void* p) { operator delete(p, std::nothrow); }},
      {operator new[](40, std::nothrow), [](void* p) { operator delete[](p, std::nothrow); }},
      {operator new(40, wide), [](void* p) { operator delete(p, wide); }},
      {operator new(40, wide), [](void* p) { operator delete(p, std::size_t{40}, wide); }},
      {operator new[](40, wide), [](void* p) { operator delete[](p, wide); }},
      {operator new[](40, wide), [](void* p) { operator delete[](p, std::size_t{40}, wide); }},
      {operator new(40, wide, std::nothrow), [](void* p) { operator delete(p, wide, std::nothrow); }},
      {operator new[](40, wide, std::nothrow), [](void* p) { operator delete[](p, wide, std::nothrow); }},
      {operator new(0), [](void* p) { operator delete(p); }},
      {operator new(40), [](void* p) { std::free(p); }},
      {std::malloc(40), [](void* p) { operator delete(p); }},
  };
  int form = 0;
  for (const auto& [block, free] : pairs) {
    ASSERT_NE(block, nullptr) << form;
    EXPECT_EQ(polder_owns(block), 1) << form;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % (form >= 6 && form <= 11 ? 256 : 16), 0u) << form;
    ++form;
  }
  for (const auto& [block, free] : pairs) free(block);
  operator delete(nullptr);
  operator delete[](nullptr, std::size_t{5});
}

TEST(operator_new, out_of_memory_is_bad_alloc_or_null) {
  EXPECT_THROW(static_cast<void>(operator new(too_much())), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(operator new[](too_much())), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(operator new(too_much(), wide)), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(operator new[](too_much(SIZE_MAX - 100), wide)), std::bad_alloc);
  EXPECT_EQ(operator new(too_much(), std::nothrow), nullptr);
  EXPECT_EQ(operator new[](too_much(), std::nothrow), nullptr);
  EXPECT_EQ(operator new(too_much(), wide, std::nothrow), nullptr);
  EXPECT_EQ(operator new[](too_much(), wide, std::nothrow), nullptr);
}

TEST(operator_new, an_alignment_that_is_no_power_of_two_fails_likewise) {
  volatile std::size_t none = 0, crooked = 24;  // clang refuses constants
  EXPECT_THROW(static_cast<void>(operator new(8, std::align_val_t(crooked))), std::bad_alloc);
  EXPECT_EQ(operator new(8, std::align_val_t(none), std::nothrow), nullptr);
}

TEST(operator_new, the_handler_is_called_until_there_is_none) {
  {
    const with_handler h(give_up_the_third_time);
    EXPECT_THROW(static_cast<void>(operator new(too_much())), std::bad_alloc);
    EXPECT_EQ(calls, 3);
  }
  {
    const with_handler h(give_up_the_third_time);
    EXPECT_EQ(operator new(too_much(), std::nothrow), nullptr);
    EXPECT_EQ(calls, 3);
  }
  {
    const with_handler h(give_up_the_third_time);
    EXPECT_EQ(operator new[](too_much(), wide, std::nothrow), nullptr);
    EXPECT_EQ(calls, 3);
  }
}

TEST(operator_new, what_the_handler_throws_comes_through_unless_nothrow) {
  {
    const with_handler h(throws_something_else);
    EXPECT_THROW(static_cast<void>(operator new[](too_much())), other);
  }
  const with_handler h(throws);
  EXPECT_THROW(static_cast<void>(operator new(too_much(), wide)), std::bad_alloc);
  EXPECT_EQ(operator new(too_much(), std::nothrow), nullptr);
  EXPECT_EQ(calls, 2);
}

struct alignas(512) page_like {
  char c[700];
  ~page_like() {}  // makes an array of them carry its length
};

TEST(operator_new, arrays_of_over_aligned_objects_with_destructors) {
  const auto objects = std::make_unique<page_like[]>(7);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(objects.get()) % 512, 0u);
}

}  // namespace
