#pragma once
// owned_lock — a lock in one word that says who holds it.
//
//   paper      none; SuperMalloc's are locks too (Kuszmaul 2015). That a lock bit and a waiting bit suffice: Drepper, "Futexes
//              are tricky", 2004
//   progress   blocking: who waits, waits for the holder
//   in malloc  yes, but never in a signal handler that may have interrupted a holder
//   invariant  at most one thread is between lock() and unlock(); whoever sleeps has seen the waiting bit in the word,
//              and the unlock() that clears the word wakes one
//
// States. An arrow is one successful CAS or exchange; in brackets, what the thread that made it owes.
//
//                lock [unlock]                     another one waits
//       free ─────────────────────────▶ held ────────────────────────▶ held, waited for ◀─┐
//        ▲ ▲                             │                                │     │          │ lock, after a wait:
//        │ └─────────────────────────────┘                                │     └── ─ ─ ─ ─┘ there may be more
//        │          unlock                                                │
//        └────────────────────────────────────────────────────────────────┘
//                   unlock [wake one of them]
//
// Why it tells its holder: after a fork the child must know which locks were held by threads that it does not have.
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/sync/atomic.hpp>

namespace polder {

class owned_lock {
 public:
  using mark = std::uint32_t;  // of a thread: not 0, and without the highest bit
  static constexpr mark waited_for = 0x8000'0000;

  enum class state : std::uint8_t { free, held, held_and_waited_for };
  static constexpr state of(mark word) {
    return word == 0 ? state::free : (word & waited_for) != 0 ? state::held_and_waited_for : state::held;
  }
  static constexpr bool legal(state from, state to) { return from == state::free ? to != from : to != state::held; }

  owned_lock() noexcept = default;  // free, all-zero; constexpr in the native world
  owned_lock(const owned_lock&) = delete;
  owned_lock& operator=(const owned_lock&) = delete;

  bool try_lock(mark me) noexcept {
    POLDER_CHECK(1, me != 0 && (me & waited_for) == 0);
    mark seen = 0;
    return word_.cas(seen, me, order::acquire, order::relaxed);  // sync: owned-lock
  }

  // `sleep(seen)` returns when the word may no longer be `seen`: at once when it is not, or later for no reason.
  template <class Sleep>
  void lock(mark me, Sleep&& sleep) noexcept {
    for (unsigned tries = 0; tries <= spins; ++tries) {
      if (try_lock(me)) return;
      relax();
    }
    for (;;) {
      mark seen = word_.load(order::relaxed);
      if (seen == 0) {
        // Others may sleep still: what unlock() cleared was their bit too.
        if (word_.cas(seen, me | waited_for, order::acquire, order::relaxed)) return;  // sync: owned-lock
      } else if ((seen & waited_for) != 0) {
        sleep(seen);
      } else if (word_.cas(seen, seen | waited_for, order::relaxed, order::relaxed)) {
        sleep(seen | waited_for);
      }
    }
  }

  // `wake()` wakes one that sleeps, if one does.
  template <class Wake>
  void unlock(Wake&& wake) noexcept {
    const mark was = word_.exchange(0, order::release);  // sync: owned-lock
    POLDER_CHECK(1, was != 0);
    if ((was & waited_for) != 0) wake();
  }

  // Who holds it; 0: nobody. Means something to the holder, and to who is alone.
  mark holder() const noexcept { return now() & ~waited_for; }

  // The whole word, as the kernel sees it when it puts somebody to sleep.
  mark now() const noexcept { return word_.load(order::relaxed); }

  // In the child of a fork, which is alone: frees the lock of a thread that is gone. True: it was held, so what it guards
  // may be torn.
  bool release_in_child(mark me) noexcept {
    if (holder() == 0 || holder() == me) return false;
    reset();
    return true;
  }

  // The same: free, whoever held it.
  void reset() noexcept { word_.store(0, order::relaxed); }

  // What a sleeper sleeps on, as the kernel wants it: the address of a word of 32 bits.
  const void* word() const noexcept { return &word_; }

 private:
#if defined(POLDER_MODEL)
  static constexpr unsigned spins = 0;  // trying again is no new step
  static void relax() noexcept {}
#else
  // As long as a list takes to be moved; a holder that was preempted is not worth more.
  static constexpr unsigned spins = 60;
  static void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
#endif

  // word_ — 0, or the holder's mark, and whether somebody waits.
  //   written by  who takes it by CAS, who waits (the bit) by CAS, the holder by exchange
  //   read by     the same; the kernel, on behalf of a sleeper
  //   order       owned-lock: the holder's release publishes what it did; the next one's acquire makes it readable.
  //                 Setting the bit is an RMW and orders nothing: it does not break the release sequence, and what it
  //                 replaces is a mark, never a release
  //   ABA         harmless: who finds the mark that it saw before sleeps until that holder unlocks
  atomic<mark> word_;
};

}  // namespace polder
