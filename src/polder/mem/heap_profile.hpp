#pragma once
// heap_profile — the samples of a heap: which blocks, and from where.
//
//   progress   wait-free
//   in malloc  yes; async-signal-safe
//
// All-zero memory is an empty one. It is never given back: a block that was drawn may be freed at any time.
#include <cstdint>

#include <polder/mem/call_sites.hpp>
#include <polder/mem/sampled_blocks.hpp>

namespace polder::mem {

struct heap_profile {
  std::uint64_t mean;  // bytes between two samples; set before others see the profile
  // 40,000 before the first is lost: at 512 KiB between samples, 20 GiB of live blocks.
  sampled_blocks<8192, 8> blocks;
  call_sites<8192, 48> sites;
  atomic<std::uint64_t> lost;  // samples for which there was no room

  // False: there is no room.
  bool add(const void* p, std::size_t n, void* const* frames, unsigned depth) noexcept {
    const std::uint32_t site = sites.find(frames, depth);
    const bool added = blocks.add({p, n, site});
    if (added) sites.drawn(site, n);
    else lost.fetch_add(1, order::relaxed);
    return added;
  }
  // Before p is freed. False: it is no sample.
  bool forget(const void* p) noexcept {
    sampled_block was;
    if (!blocks.remove(p, was)) return false;
    sites.freed(was.site, was.bytes);
    return true;
  }
};

}  // namespace polder::mem
