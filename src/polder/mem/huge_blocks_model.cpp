// huge_blocks under the model checker, over a kernel that gives the same addresses again at once: a block has one user, of
// two frees one is told that it came too late, and at the end every mapping and every number is somewhere, once.
#include <polder/mem/huge_blocks.cpp>

#include "kernel.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::plain;
using polder::mem::grain_shift;
using polder::mem::huge_blocks;
using polder::mem::radix_map;
using polder::mem::zeroed;

struct heap {
  polder::model::kernel kernel;
  std::byte* const root = reinterpret_cast<std::byte*>(zeroed::make<atomic<void*>>(1));
  std::byte* const directory = reinterpret_cast<std::byte*>(zeroed::make<atomic<void*>>(1));
  radix_map map{root};
  polder::mem::budget all;
  const std::size_t page;
  huge_blocks huge{map, page, directory, all};
  plain<int> contents[polder::model::kernel::granules + 1];

  explicit heap(std::size_t page_size = 4096) : page(page_size) {}

  plain<int>& at(const std::byte* p) { return contents[polder::address(p) >> grain_shift]; }

  std::byte* take() {
    std::byte* const p = huge.take(1, 16).p;
    POLDER_MODEL_CHECK(p != nullptr);
    at(p).set(at(p).get() + 1);
    return p;
  }
  bool give(const std::byte* p) {
    const std::uint32_t number = huge.find(p);
    return number != 0 && huge.give(number, p);
  }
  void give_mine(const std::byte* p) {
    at(p).set(at(p).get() + 1);
    POLDER_MODEL_CHECK(give(p));
  }
  void all_back() {
    POLDER_MODEL_CHECK(huge.live_bytes() == 0);
    huge.purge(true);
    POLDER_MODEL_CHECK(huge.cached_bytes() == 0 && kernel.in_use() == 0);
    zeroed::all_end();
  }
};

struct two_users : rl::test_suite<two_users, 2>, heap {
  void thread(unsigned) {
    give_mine(take());
    give_mine(take());
  }
  void after() { all_back(); }
};

struct user_and_purger : rl::test_suite<user_and_purger, 3>, heap {
  void thread(unsigned self) {
    if (self == 2) {
      huge.purge(false);
      huge.purge(false);
      huge.purge(true);
    } else {
      give_mine(take());
      if (self == 0) give_mine(take());
    }
  }
  void after() { all_back(); }
};

struct two_frees : rl::test_suite<two_frees, 2>, heap {
  plain<std::byte*> p;
  plain<int> freed[2];
  void before() { p.set(take()); }
  void thread(unsigned self) { freed[self].set(give(p.get())); }
  void after() {
    POLDER_MODEL_CHECK(freed[0].get() + freed[1].get() == 1 && !give(p.get()));
    all_back();
  }
};

// A block goes from hand to hand by a word that orders nothing: all that its next user knows of it comes from the heap.
template <bool Moved>
struct handing_over : rl::test_suite<handing_over<Moved>, 2>, heap {
  static constexpr std::size_t asked = Moved ? 2 * huge_blocks::shortest : 1;
  atomic<std::byte*> handed{nullptr};

  void receive() {
    std::byte* const p = handed.exchange(nullptr, order::relaxed);
    if (p == nullptr) return;
    const std::uint32_t number = this->huge.find(p);
    POLDER_MODEL_CHECK(number != 0 && this->huge.suits(number, asked) && this->huge.give(number, p));
  }
  void thread(unsigned self) {
    if (self != 0) return receive();
    this->give_mine(this->take());  // so that its number and its address are known already
    std::byte* const p = this->huge.take(1, 16).p;
    handed.store(Moved ? this->huge.resize(this->huge.find(p), p, asked) : p, order::relaxed);
  }
  void after() {
    receive();
    this->all_back();
  }
};
// One that moves with its pages, while another gives its own and gets what was left.
struct mover : rl::test_suite<mover, 2>, heap {
  void thread(unsigned self) {
    std::byte* p = take();
    if (self == 0) {
      std::byte* const moved = huge.resize(huge.find(p), p, 2 * huge_blocks::shortest);
      if (moved != nullptr) p = moved;
    } else {
      give_mine(p);
      p = take();
    }
    POLDER_MODEL_CHECK(huge.find(p) != 0);
    give_mine(p);
  }
  void after() { all_back(); }
};

// One that moves to a place that was not reserved: what another takes may lie where it was before it knows.
struct mover_anywhere : rl::test_suite<mover_anywhere, 2>, heap {
  plain<std::byte*> theirs;
  void before() { kernel.refuses_to_reserve = true; }
  void thread(unsigned self) {
    std::byte* const p = take();
    if (self != 0) return theirs.set(p);
    std::byte* const moved = huge.resize(huge.find(p), p, 2 * huge_blocks::shortest);
    POLDER_MODEL_CHECK(moved != nullptr && huge.find(moved) != 0);
    give_mine(moved);
  }
  void after() {
    POLDER_MODEL_CHECK(huge.find(theirs.get()) != 0);
    give_mine(theirs.get());
    all_back();
  }
};

// The same where the kernel refuses to move it: what the other takes may lie in the place that was lost.
template <polder::os::moved How>
struct mover_in_vain : rl::test_suite<mover_in_vain<How>, 2>, heap {
  void thread(unsigned self) {
    this->kernel.moves = How;
    std::byte* const p = this->take();
    if (self == 0) {
      POLDER_MODEL_CHECK(this->huge.resize(this->huge.find(p), p, 2 * huge_blocks::shortest) == nullptr);
    } else {
      this->give_mine(this->take());
    }
    this->give_mine(p);
  }
  void after() { this->all_back(); }
};

// One that grows where a mapping of five granules is in the cache: it has the front, and later what was cut off behind.
template <class Test>
struct growth : rl::test_suite<Test, 2>, heap {
  static constexpr std::size_t granule = huge_blocks::shortest;
  growth() : heap(granule) {}

  void before() {
    std::byte* const p = huge.take(5 * granule, 16).p;
    POLDER_MODEL_CHECK(p != nullptr && give(p));
  }
  void write(const std::byte* p) {
    for (std::size_t i = 0; i != huge.usable(huge.find(p)); i += granule) at(p + i).set(at(p + i).get() + 1);
  }
  void grow() {
    std::byte* p = huge.take_to_grow(1).p;
    if (p == nullptr) return;  // the other has nearly all
    write(p);
    if (std::byte* const grown = huge.resize(huge.find(p), p, 3 * granule)) p = grown;
    write(p);
    POLDER_MODEL_CHECK(give(p));
  }
  void after() { all_back(); }
};

// Of what was cut off behind, the other may have become the user meanwhile.
struct growers : growth<growers> {
  void thread(unsigned self) {
    grow();
    if (self == 1) huge.purge(true);
  }
};

// Or it is with the kernel, and its number another mapping's, which lies elsewhere: of two that have been purged, the second has
// the first one's number the next time.
struct grower_and_purger : growth<grower_and_purger> {
  void thread(unsigned self) {
    if (self == 0) return grow();
    for (int times = 0; times != 2; ++times) {
      huge.purge(true);
      std::byte* const p = huge.take(1, 16).p;
      std::byte* const q = huge.take(1, 16).p;
      for (const std::byte* b : {p, q}) {
        if (b == nullptr) continue;
        write(b);
        POLDER_MODEL_CHECK(give(b));
      }
    }
  }
};

// The kernel takes nothing back: the mappings are used again.
struct stuck : rl::test_suite<stuck, 2>, heap {
  void thread(unsigned) {
    kernel.refuses_to_unmap = true;
    give_mine(take());
    huge.purge(true);
    give_mine(take());
  }
  void after() {
    kernel.refuses_to_unmap = false;
    all_back();
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<two_users>({.title = "huge_blocks: two users", .how = search::bounded, .floor = 300, .switches = 1});
  ok &= passes<two_users>({.title = "huge_blocks: two users", .executions = 3'000});
  ok &= passes<user_and_purger>({.title = "huge_blocks: users and a purger", .executions = 3'000});
  ok &= passes<two_frees>(
      {.title = "huge_blocks: two frees of one", .how = search::bounded, .floor = 300, .switches = 2});
  ok &= passes<handing_over<false>>({.title = "huge_blocks: handed over", .executions = 5'000});
  ok &= passes<handing_over<true>>({.title = "huge_blocks: moved and handed over", .executions = 5'000});
  ok &= passes<mover>({.title = "huge_blocks: one that moves", .executions = 3'000});
  ok &= passes<mover_anywhere>(
      {.title = "huge_blocks: one that moves anywhere", .how = search::bounded, .floor = 300, .switches = 1});
  ok &= passes<mover_anywhere>({.title = "huge_blocks: one that moves anywhere", .executions = 3'000});
  ok &= passes<mover_in_vain<polder::os::moved::lost>>(
      {.title = "huge_blocks: one that loses its place", .how = search::bounded, .floor = 300, .switches = 1});
  ok &= passes<mover_in_vain<polder::os::moved::lost>>(
      {.title = "huge_blocks: one that loses its place", .executions = 5'000});
  ok &= passes<mover_in_vain<polder::os::moved::refused>>(
      {.title = "huge_blocks: one that may not move", .executions = 3'000});
  ok &= passes<growers>(
      {.title = "huge_blocks: two that grow from one", .how = search::bounded, .floor = 300, .switches = 1});
  ok &= passes<growers>({.title = "huge_blocks: two that grow from one", .executions = 3'000});
  ok &= passes<grower_and_purger>(
      {.title = "huge_blocks: one that grows, and a purger", .how = search::bounded, .floor = 300, .switches = 1});
  ok &= passes<stuck>({.title = "huge_blocks: mappings that stay", .executions = 3'000});
  return ok ? 0 : 1;
}
