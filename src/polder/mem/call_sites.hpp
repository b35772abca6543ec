#pragma once
// call_sites — from where a heap profile's blocks were asked for: stacks of return addresses, each once, and what they hold.
//
//   progress   find wait-free; counters wait-free
//   in malloc  yes; async-signal-safe
//   invariant  a site's stack never changes; live = drawn − freed, in blocks and, but for blocks that shrank, in bytes
//
// States of a site. An arrow is one atomic step.
//
//              find, by CAS             find, by store
//     unused ────────────────▶ claimed ───────────────▶ known
//
// Two threads that come with the same new stack at once may make a site each: who reads them adds them up.
#include <cstddef>
#include <cstdint>

#include <polder/sync/atomic.hpp>

namespace polder::mem {

template <unsigned most, unsigned most_frames>
class call_sites {
  static_assert((most & (most - 1)) == 0);

 public:
  static constexpr unsigned deepest = most_frames;

  // The number of the stack; 0: there is no room for it, and site 0 is for all of these.
  std::uint32_t find(void* const* frames, unsigned depth) noexcept {
    if (depth > most_frames) depth = most_frames;
    const std::uint64_t mark = mark_of(frames, depth);
    for (unsigned i = 0; i != most_looks; ++i) {
      const std::uint32_t n = std::uint32_t(mark + i) & (most - 1);
      if (n == 0) continue;
      site& s = sites_[n];
      std::uint64_t now = marks_[n].load(order::relaxed);
      if (now == unused && marks_[n].cas(now, mark, order::relaxed, order::relaxed)) {
        for (unsigned f = 0; f != depth; ++f) s.frames[f].set(frames[f]);
        s.depth.store(depth + 1, order::release);  // sync: site-known
        return n;
      }
      if (now == mark && is(s, frames, depth)) return n;
    }
    return 0;
  }

  void drawn(std::uint32_t n, std::size_t bytes) noexcept {
    site& s = sites_[n];
    s.drawn_blocks.fetch_add(1, order::relaxed);
    s.drawn_bytes.fetch_add(bytes, order::relaxed);
    s.live_blocks.fetch_add(1, order::relaxed);
    s.live_bytes.fetch_add(bytes, order::relaxed);
  }
  void freed(std::uint32_t n, std::size_t bytes) noexcept {
    site& s = sites_[n];
    s.live_blocks.fetch_sub(1, order::relaxed);
    s.live_bytes.fetch_sub(bytes, order::relaxed);
  }
  // A live block of `from` bytes is one of `to`. What it grew by was drawn with it.
  void resized(std::uint32_t n, std::size_t from, std::size_t to) noexcept {
    site& s = sites_[n];
    if (to > from) s.drawn_bytes.fetch_add(to - from, order::relaxed);
    s.live_bytes.fetch_add(to - from, order::relaxed);
  }

  struct counts {
    std::uint64_t live_blocks, live_bytes, drawn_blocks, drawn_bytes;
  };
  counts of(std::uint32_t n) const noexcept {
    const site& s = sites_[n];
    return {s.live_blocks.load(order::relaxed), s.live_bytes.load(order::relaxed),
            s.drawn_blocks.load(order::relaxed), s.drawn_bytes.load(order::relaxed)};
  }

  // f(frame) for each return address of a site, innermost first; none if it is not known (yet).
  template <class F>
  void for_each_frame(std::uint32_t n, F f) const noexcept {
    const site& s = sites_[n];
    const std::uint32_t depth = s.depth.load(order::acquire);  // sync: site-known
    for (std::uint32_t i = 0; i + 1 < depth; ++i) f(s.frames[i].get());
  }

  // f(number) for each site that may have counted something.
  template <class F>
  void for_each(F f) const noexcept {
    f(0);
    for (std::uint32_t n = 1; n != most; ++n)
      if (marks_[n].load(order::relaxed) != unused) f(n);
  }

 private:
  static constexpr unsigned most_looks = 32;
  static constexpr std::uint64_t unused = 0;

  struct site {
    // depth — how many frames, and one more; 0: they are not all there.
    //   written by  who claimed the site, once
    //   read by     everybody
    //   order       site-known: releases the frames; readers acquire
    //   ABA         no: it changes once
    atomic<std::uint32_t> depth;
    plain<void*> frames[most_frames];  // written before depth
    // Counters. Relaxed: figures; a block's free comes after its drawing, so none goes below 0.
    atomic<std::uint64_t> live_blocks, live_bytes, drawn_blocks, drawn_bytes;
  };

  static std::uint64_t mark_of(void* const* frames, unsigned depth) noexcept {
    std::uint64_t mark = depth + 1;
    for (unsigned i = 0; i != depth; ++i) {
      mark = (mark ^ reinterpret_cast<std::uintptr_t>(frames[i])) * 0x9e37'79b9'7f4a'7c15;
      mark ^= mark >> 32;
    }
    return mark != unused ? mark : 1;
  }

  static bool is(const site& s, void* const* frames, unsigned depth) noexcept {
    if (s.depth.load(order::acquire) != depth + 1) return false;  // sync: site-known
    for (unsigned i = 0; i != depth; ++i)
      if (s.frames[i].get() != frames[i]) return false;
    return true;
  }

  // marks_ — of the stacks, or unused. Apart from the sites, so that who looks at all of them touches little memory.
  //   written by  who comes first with a stack, by CAS; never cleared
  //   read by     who looks for one
  //   order       relaxed: the frames are what depth publishes
  //   ABA         no: it changes once
  atomic<std::uint64_t> marks_[most];
  site sites_[most];
};

}  // namespace polder::mem
