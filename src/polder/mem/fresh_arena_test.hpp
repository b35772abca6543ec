#pragma once
// fresh_arena — an arena of a test's own, with no more room than the test says.
#include <polder/mem/arena.hpp>
#include <polder/mem/huge_blocks.hpp>
#include <polder/mem/radix_map.hpp>
#include <polder/os/pages.hpp>

namespace polder::mem {

struct fresh_arena {
  static constexpr std::size_t front = radix_map::root_bytes + huge_blocks::directory_bytes;

  // `bytes` of grains, and room for `extra` chunks beyond.
  explicit fresh_arena(std::size_t bytes, chunk_number extra = 0, std::size_t page = os::page_size())
      : reserved(limited(arena::reserve(front, bytes, page), extra)), it(reserved, reserved.front, committed) {}
  ~fresh_arena() { arena::abandon(reserved); }
  fresh_arena(const fresh_arena&) = delete;
  fresh_arena& operator=(const fresh_arena&) = delete;

  std::byte* directory() const { return reserved.front + radix_map::root_bytes; }

  budget committed;
  const arena::reservation reserved;
  arena it;

 private:
  // The tables have room for whatever the machine may hold: use less of it.
  static arena::reservation limited(arena::reservation r, chunk_number extra) {
    r.chunks = chunk_number((r.arena_bytes + chunk_size - 1) / chunk_size) + extra;
    return r;
  }
};

}  // namespace polder::mem
