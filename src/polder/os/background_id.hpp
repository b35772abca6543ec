#pragma once
// background_id — whether a thread of the library's own is there: who starts one has its members alone, until it is there.
//
//   progress   wait-free
//   in malloc  yes; in a signal handler: yes
//
// States. An arrow is one CAS or store, or the kernel's.
//
//              begin            the kernel, with the thread
//       0 ──────────────▶ coming ──────────────▶ the thread's number
//       ▲ ▲   refused      │                             │
//       │ └────────────────┘                             │
//       └────────────────────────────────────────────────┘
//             the kernel, when the thread needs its stack no more
#include <cstdint>

#include <polder/sync/atomic.hpp>

namespace polder::os {

class background_id {
 public:
  [[gnu::always_inline]] bool is_any() const noexcept { return word_.load(order::relaxed) != 0; }

  // True: until refused(), or until the kernel has the word, what belongs to the thread is the caller's.
  [[nodiscard]] bool begin() noexcept {
    std::uint32_t none = 0;
    return word_.cas(none, coming, order::acquire, order::relaxed);  // sync: background-start
  }
  void refused() noexcept { word_.store(0, order::release); }  // sync: background-start

  // In the child of a fork, where it is not.
  void forget() noexcept { word_.store(0, order::relaxed); }

  atomic<std::uint32_t>& for_kernel() noexcept { return word_; }

 private:
  static constexpr std::uint32_t coming = ~std::uint32_t{0};
  // word_ — see the drawing.
  //   written by  who starts the thread; the kernel
  //   read by     everybody
  //   order       background-start: who starts it finds what the one before left of what belongs to it
  //   ABA         harmless: an end in between is an end
  atomic<std::uint32_t> word_{0};
};

}  // namespace polder::os
