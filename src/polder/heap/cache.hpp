#pragma once
// cache — the part of a heap that one thread works in: its header, the same for every heap made of parts.
//
//   in malloc  yes
//   invariant  state is `inside` exactly while its thread, or who borrowed it, is in an operation of the heap
//
// States. Its thread alone moves it, with plain stores; its signal handlers look at it.
//
//               open()                   enter()
//     closed ──────────▶ outside ──────────────────────▶ inside
//        ▲                 │   ▲                           │
//        └──── close() ────┘   └────────── exit() ─────────┘
//
// All-zero memory is closed: the cache in front of which every thread begins.
#include <cstddef>
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/base/config.hpp>
#include <polder/sync/atomic.hpp>
#include <polder/sync/glimpsed.hpp>

namespace polder::heap {

enum class cache_state : std::uint8_t { closed, outside, inside };

constexpr bool legal(cache_state from, cache_state to) {
  switch (from) {
    case cache_state::closed: return to == cache_state::outside;
    case cache_state::outside: return to != cache_state::outside;
    case cache_state::inside: return to == cache_state::outside;
  }
  return false;
}

struct cache_header {
  glimpsed<cache_state> state{cache_state::closed};  // owner and its handlers
  bool owing = false;               // a handler put frees off while its thread was inside: owner only
  std::uint32_t number = 0;         // in the heap's table of caches; constant
  glimpsed<std::size_t> taken{0};   // bytes of blocks handed out through it: owner only
  glimpsed<std::size_t> given{0};   // and taken back
  atomic<std::uint32_t> next_idle;  // link in the stack of caches without a thread; its cards stand there
  // Whose it is, as os/futex.hpp marks threads; 0: it lies in a stack, or somebody has just taken it there or is about to put it
  // there. By its holder; the child of a fork looks, to know what gone threads had from what who forked is about to have.
  std::uint32_t holder = 0;

  POLDER_ALWAYS_INLINE bool enter() {
    if (state != cache_state::outside) [[unlikely]]
      return false;
    state = cache_state::inside;
    signal_fence();  // a handler that comes from here on finds it inside
    return true;
  }
  POLDER_ALWAYS_INLINE void exit() {
    signal_fence();
    state = cache_state::outside;
  }
  void open() { become(cache_state::outside); }
  void close() { become(cache_state::closed); }

 private:
  void become(cache_state next) {
    POLDER_CHECK(1, legal(state, next));
    state = next;
  }
};

// For fronts without anything of a thread's own.
struct no_cache : cache_header {};

}  // namespace polder::heap
