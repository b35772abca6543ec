// Blocks that are freed twice. Harm: two owners of one block.
#include <atomic>

#include "../probe/elsewhere.hpp"
#include "life.hpp"

namespace polder::hardening {
namespace {

// Up to so many others of its size are freed between.
template <std::size_t Most>
void twice(std::size_t size, random& r) {
  std::array<char*, Most> others;
  std::size_t n = 0;
  if constexpr (Most != 0) n = 1 + r.below(Most);
  for (std::size_t i = 0; i < n; i++) others[i] = block(size);
  char* p = block(size);
  give_back(p);
  for (std::size_t i = 0; i < n; i++) give_back(others[i]);
  give_back(p);
}

template <std::size_t Most>
effect small_twice(random& r) {
  const auto size = small(r);
  twice<Most>(size, r);
  return go_on(size);
}

template <std::size_t Most>
effect large_twice(random& r) {
  const auto size = large(r);
  twice<Most>(size, r);
  return go_on_large(size);
}

// The first free is another thread's.
effect by_two_threads(random& r) {
  const auto size = small(r);
  probe::elsewhere([](void*) {}, nullptr);  // what starting a thread allocates is there before
  char* p = block(size);
  probe::elsewhere([](void* q) { give_back(q); }, p);
  give_back(p);
  return go_on(size);
}

// Both threads free it at the same time, as well as that can be done.
effect in_a_race(random& r) {
  const auto size = small(r);
  struct meeting {
    char* p;
    std::atomic<int> there{0};
    void free_it() {
      there.fetch_add(1, std::memory_order_relaxed);
      for (int spins = 0; there.load(std::memory_order_relaxed) < 2 && spins < 1 << 24; spins++) {
      }
      give_back(p);
    }
  } both{block(size)};
  pthread_t other;
  const int error = ::pthread_create(
      &other, nullptr,
      [](void* m) -> void* {
        static_cast<meeting*>(m)->free_it();
        return nullptr;
      },
      &both);
  probe::expect(error == 0, "pthread_create");
  both.free_it();
  ::pthread_join(other, nullptr);
  return go_on(size);
}

// Between the two frees it became somebody else's, if the heap gives it out again so soon.
effect when_it_is_anothers(random& r) {
  const auto size = small(r);
  void* p = block(size);
  give_back(p);
  bool again = false;
  for (int i = 0; i < 1000 && !again; i++) again = opaque(std::malloc(size)) == p;
  if (again) probe::stamp(p, size, 1);
  give_back(p);
  const auto came = go_on(size, again ? region{static_cast<char*>(p), static_cast<char*>(p) + 1} : region{});
  return worse(harm_if(again && !probe::intact(p)), came);
}

effect reallocated(random& r) {
  const auto size = small(r);
  char* p = block(size);
  give_back(p);
  opaque(std::realloc(opaque(p), size * 3));
  return worse(go_on(size), go_on(size * 3));
}

// realloc moved it: the old address is freed already.
effect after_a_move(random& r) {
  const auto size = small(r);
  char* const p = block(size);
  [[maybe_unused]] char* behind = block(size);
  char* now = p;
  for (std::size_t n = size * 4; now == p && n < std::size_t{1} << 24; n *= 4)
    now = static_cast<char*>(opaque(std::realloc(opaque(now), n)));
  if (now == p) return effect::not_applicable;
  give_back(p);
  return go_on(size);
}

constexpr const char* shared = "two blocks are one";
constexpr mistake all[] = {
    {"double-free", "twice", "at once", shared, small_twice<0>},
    {"double-free-later", "twice", "1 to 64 others of its size are freed between", shared, small_twice<64>},
    {"double-free-threads", "twice", "by another thread, then by the one that made it", shared, by_two_threads},
    {"double-free-race", "twice", "by two threads at the same time", shared, in_a_race},
    {"double-free-reused", "twice",
     "between the frees 1,000 of its size are allocated; if one is the block, it is another's",
     "it is taken from under its new owner", when_it_is_anothers},
    {"double-free-large", "twice", "1 to 2 MiB, at once", shared, large_twice<0>},
    {"double-free-large-later", "twice", "1 to 2 MiB, up to 8 others freed between", shared, large_twice<8>},
    {"realloc-after-free", "twice", "realloc of a freed block", shared, reallocated},
    {"free-after-realloc", "twice", "realloc moved it, the old address is freed", shared, after_a_move},
};

}  // namespace

std::span<const mistake> double_frees() { return all; }

}  // namespace polder::hardening
