#pragma once
// kernel — what os/pages.hpp, os/numa.hpp and os/clock.hpp ask of the system, in a model: addresses that nothing lies at, a granule after
// the other and used again as soon as they are given back. The kernel's own lock orders its calls.
#include <cstddef>
#include <cstdint>

#include <polder/base/align.hpp>
#include <polder/mem/geometry.hpp>
#include <polder/os/clock.hpp>
#include <polder/os/numa.hpp>
#include <polder/os/pages.hpp>
#include <polder/sync/atomic.hpp>

#include "explore.hpp"

namespace polder::model {

struct kernel {
  static constexpr unsigned granules = 7;  // no more are in use at a time, and none lies at 0

  static inline kernel* current;
  kernel() { current = this; }

  // Lengths it takes, in granules: what is longer is refused.
  unsigned longest = granules;
  bool refuses_to_unmap = false;
  bool refuses_to_grow = true;  // in place
  bool refuses_to_reserve = false;
  // What comes of a move: one that is lost has given up the destination.
  os::moved moves = os::moved::there;
  // Called by commit(), with the range.
  void (*committed)(void* p, std::size_t bytes) = nullptr;

  void call() { lock_.fetch_add(1, order::acq_rel); }
  void* map(std::size_t bytes) {
    const auto n = unsigned(mem::grains_for(bytes));
    if (n > longest) return nullptr;
    for (unsigned at = 1; at + n <= granules + 1; ++at) {
      const unsigned run = ((1u << n) - 1) << at;
      if ((used_ & run) != 0) continue;
      used_ |= run;
      return at_address(std::uintptr_t{at} << mem::grain_shift);
    }
    return nullptr;
  }
  void unmap(void* p, std::size_t bytes) {
    const unsigned run = ((1u << mem::grains_for(bytes)) - 1) << (address(p) >> mem::grain_shift);
    POLDER_MODEL_CHECK((used_ & run) == run);
    used_ &= ~run;
  }
  unsigned in_use() const { return used_; }

 private:
  atomic<std::uint32_t> lock_{0};
  unsigned used_ = 0;
};

}  // namespace polder::model

namespace polder::os {

inline model::kernel& called() {
  model::kernel::current->call();
  return *model::kernel::current;
}

std::size_t page_size() noexcept { return 4096; }
std::size_t address_space_limit() noexcept { return SIZE_MAX; }
std::size_t physical_memory() noexcept { return 0; }
std::size_t data_limit() noexcept { return SIZE_MAX; }
void* map(std::size_t bytes) noexcept { return called().map(bytes); }
void* reserve(std::size_t bytes, use_of_reserved) noexcept {
  model::kernel& k = called();
  return k.refuses_to_reserve ? nullptr : k.map(bytes);
}
bool commit(void* p, std::size_t bytes) noexcept {
  model::kernel& k = called();
  if (k.committed != nullptr) k.committed(p, bytes);
  return true;
}
bool unmap(void* p, std::size_t bytes) noexcept {
  model::kernel& k = called();
  if (k.refuses_to_unmap) return false;
  k.unmap(p, bytes);
  return true;
}
bool resize(void*, std::size_t, std::size_t) noexcept { return !called().refuses_to_grow; }
moved move(void* from, std::size_t old_bytes, void* to, std::size_t new_bytes) noexcept {
  model::kernel& k = called();
  if (k.moves == moved::there) k.unmap(from, old_bytes);
  if (k.moves == moved::lost) k.unmap(to, new_bytes);
  return k.moves;
}
void* move_anywhere(void* from, std::size_t old_bytes, std::size_t new_bytes) noexcept {
  model::kernel& k = called();
  void* const to = k.map(new_bytes);
  if (to != nullptr) k.unmap(from, old_bytes);
  return to;
}
discarded discard_now(void*, std::size_t) noexcept { return called(), discarded::zeroed; }
bool advise_huge_pages(void*, std::size_t, bool) noexcept { return called(), true; }
bool keep_in_core_dumps(void*, std::size_t, bool) noexcept { return true; }
bool name(void*, std::size_t, const char*) noexcept { return true; }
bool bind(void*, std::size_t, unsigned) noexcept { return called(), true; }
void read_clock(clockid_t, timespec& into) noexcept { into = {}; }  // it stands still

}  // namespace polder::os
