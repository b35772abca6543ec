#pragma once
// lab — a local allocation buffer: all that one thread allocates from, and its mailbox.
//
//   paper      Aigner et al., OOPSLA 2015, sec. 5: hot span and reusable spans for each size class; here partial spans
//              are the owner's own list, and remote frees go to one inbox a LAB instead of one list a span
//   invariant  a span whose word names this LAB is in owned_, and it is exactly one of: hot, listed as partial,
//              or full (its word says so). Only who is inside the gate, or holds it, touches anything but what others
//              write, at the end
#include <array>
#include <cstddef>
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/heap/polder/links.hpp>
#include <polder/heap/polder/outbox.hpp>
#include <polder/heap/polder/quarantine.hpp>
#include <polder/heap/polder/shelf.hpp>
#include <polder/mem/class_table.hpp>
#include <polder/mem/geometry.hpp>
#include <polder/mem/random.hpp>
#include <polder/mem/size_class/stepped.hpp>
#include <polder/mem/span.hpp>
#include <polder/mem/trail.hpp>
#include <polder/mem/word.hpp>
#include <polder/sync/glimpsed.hpp>
#include <polder/sync/inbox.hpp>
#include <polder/sync/lab_state.hpp>

namespace polder::heap {

using classes = mem::class_table<mem::size_class::stepped>;

// What a block of each class adds to a list of the outbox.
inline constexpr auto tallies = [] {
  std::array<outbox::tally, classes::count + 1> t{};
  for (unsigned c = 1; c <= classes::count; ++c) t[c] = outbox::tally(classes::block_size[c]);
  return t;
}();

// Whether a block begins at p in a span of class c.
POLDER_ALWAYS_INLINE bool is_place(unsigned c, const void* p) noexcept {
  const auto offset = std::uint32_t(address(p) & (mem::grain_size - 1));
  return mem::scaled(classes::multiplier[c], offset) < classes::scaled_end[c];
}

// What is asked for a small block that grows to n bytes: what grew by little grows on, so it has a quarter more than it held.
constexpr std::size_t with_room(std::size_t held, std::size_t n) {
  constexpr std::size_t largest = mem::size_class::stepped::largest;
  const std::size_t roomy = held + held / 4;
  return n <= held || n >= roomy || n > largest ? n : roomy < largest ? roomy : largest;
}

// A class in a set of them.
static_assert(classes::count <= 64);
constexpr std::uint64_t class_bit(unsigned c) { return std::uint64_t{1} << (c - 1); }

// By how much a hot span's `used` is more than its blocks outside, where lab::keeps is this: 0 or 1.
constexpr std::uint32_t one_more(std::uint64_t keeps, unsigned c) { return std::uint32_t(keeps >> (c - 1) & 1); }

// The first block of a span's list, to be handed out. Its link and key fit.
POLDER_ALWAYS_INLINE mem::block* take_first(mem::span& s, const mem::secret& secret) noexcept {
  mem::block* const b = s.free;
  s.free = beside_the_result<1>(links::next(b, secret));
  __builtin_prefetch(s.free);  // the next one, which may have been freed long ago
  ++s.used;
  b->wipe();
  return b;
}

// And back onto it. True: it was the last one outside.
[[nodiscard]] POLDER_ALWAYS_INLINE bool put_first(mem::span& s, mem::block* b, const mem::secret& secret) noexcept {
  links::set(b, s.free, secret);
  s.free = b;
  return --s.used == 0;
}

// Whether b may be outside: it is a place of a block of the span, below what was never handed out, and not free.
POLDER_ALWAYS_INLINE bool may_be_outside(const mem::span& s, const mem::block* b,
                                         const mem::secret& secret) noexcept {
  const auto offset = std::uint32_t(address(b) & (mem::grain_size - 1));
  return mem::scaled(s.multiplier, offset) < s.handed && !links::fit(b, secret);
}

// To have memory, without success so far (core::make_room).
struct attempts {
  unsigned made = 0;
  bool capped = false;  // as was seen before the last of them, but for the first
};

struct alignas(false_sharing_range) lab {
  // Sizes that malloc serves from `direct` without computing a class: by their number of 16-byte steps.
  static constexpr std::size_t direct_limit = 1024;
  static constexpr unsigned direct_entries = direct_limit / 16 + 1;
  // Of how many grains a run of a large block is at most that stays with who frees it.
  static constexpr unsigned longest_kept = 4;

  // The class of a size that `direct` does not have, nor a large block.
  static constexpr std::size_t step_beyond_direct = direct_limit / 8;
  static constexpr auto classes_by_step = [] {
    std::array<std::uint8_t, mem::size_class::stepped::largest / step_beyond_direct> t{};
    for (std::size_t i = 0; i != t.size(); ++i)
      t[i] = std::uint8_t(mem::size_class::stepped::of((i + 1) * step_beyond_direct));
    return t;
  }();
  POLDER_ALWAYS_INLINE static unsigned class_beyond_direct(std::size_t n) noexcept {
    return classes_by_step[(n - 1) / step_beyond_direct];
  }

  // ---- what the fast paths read: the heap's constants lie here so that no other line is touched for them
  gate door;
  std::byte* base;     // of the main arena
  std::size_t opened;  // grains of it, as far as this LAB knows: what lies beyond goes the slow way
  mem::secret secret;
  atomic<std::uint32_t>* words;
  mem::span* spans;
  mem::lab_number number;              // 0: not a LAB but the closed door in front of which every thread begins
  std::int64_t until_sample;           // bytes; where no profile is on, 0 or less
  mem::span* direct[direct_entries];   // hot spans by size
  mem::span* counted[direct_entries];  // the same where a profile is on, and `direct` is empty

  // ---- slow paths
  mem::span* hot[classes::count + 1];  // by class; never null: a span without blocks stands for none
  std::uint64_t hots;                  // of which classes there is one
  struct {
    mem::grain first, last;
  } partial[classes::count + 1];  // spans with a free block that are not hot; taken from the front, fed at the end
  std::uint64_t partials;         // of which classes there are some
  // Of which classes the hot span counts one more in `used` and so stays when it runs empty; moved while the class has none.
  glimpsed<std::uint64_t> keeps;
  std::uint8_t fresh[classes::count + 1];  // spans taken fresh in a row: the class grows
  mem::grain owned;                        // first in the list of all spans
  std::uint32_t owned_count;
  std::uint32_t owned_of[classes::count + 1];  // of them, by class
  std::uint32_t early[classes::count + 1];     // of these, opened though some were partial, since none was
  std::uint64_t handed_out;                    // bytes of them in blocks that were outside at least once
  mem::grain thin_next;                        // of them, whose pages are looked at next; 0: a new round
  bool whole_round;                            // blocks came to none that this round has passed
  std::uint32_t thins_due;                     // spans that its refills look for in this step
  attempts for_a_page;                         // that was given back, by the refill at hand
  std::uint64_t wanted;                        // classes that took a span in these steps of decay (steps_of_rest)
  std::uint64_t wanted_before;                 // and in those before
  atomic<std::uint32_t> seen;                  // decay step at the last slow path; others read it as a hint
  atomic<std::uint32_t> swept;                 // nothing came since a sweep; the same
  atomic<std::uint32_t> thinned;  // `seen` and one, when a whole round was last over; 0: blocks came; the same
  atomic<mem::site> site;  // of the thread for which it was made; all of the LAB's threads are of it; the same
  outbox out;
  // turned_away_since — milliseconds: since then its thread has found it claimed each time, by the same claimer; 0: not so.
  //   written by  its thread, outside; a claimer that is done: 0
  //   read by     its thread
  //   order       relaxed: a figure. What a claimer that is done overwrites, or is overwritten by, makes a tenth of a second of
  //                 another claim longer or shorter
  atomic<std::uint64_t> turned_away_since;
  std::uint32_t beyond;          // allocations that the fast path did not serve
  std::uint32_t taken_back;      // blocks, out of the outbox
  mem::grain kept_run;           // that was the last large block freed here, for the next; nobody else finds it
  mem::lab_number adopted_from;  // where it found a span to adopt last
  glimpsed<std::uint64_t> refills, posts;
  // Blocks by class: freed here and another LAB's; come home to this one, or taken back before they were sent, less those on the
  // shelf. What more was sent by all LABs than has come home to any waits in outboxes and inboxes, or on shelves.
  glimpsed<std::uint64_t> sent[classes::count + 1], home[classes::count + 1];
  shelf shelved;
  mem::trail trail;

  // ---- where the heap is hardened
  mem::random random;
  std::uint32_t until_guarded;  // allocations
  glimpsed<quarantine*> held;   // null: none yet

  // ---- where allocations are watched
  std::uint32_t watched;  // as this LAB was told: nothing is in `direct`
  bool counts;            // until_sample was drawn

  // ---- what others write
  alignas(false_sharing_range) inbox<mem::block> in;
  // in_bytes — bytes on their way into it, or in it.
  //   written by  who posts, before the post; who drains it, after, by as much as that brought
  //   read by     posters, and who asks for statistics
  //   order       relaxed: a figure, and each poster's own crossing of a threshold
  atomic<std::uint64_t> in_bytes;
  atomic<std::uint32_t> next_idle;  // link in a stack of LABs without a thread
  // offered — of which classes here are partial spans or hot ones, and no thread.
  //   written by  who has the LAB: before it becomes idle, when it is drained or adopted from, when a thread takes it
  //   read by     who looks for spans to adopt
  //   order       relaxed: a hint; what is there is seen when the LAB is held
  //   ABA         harmless
  atomic<std::uint64_t> offered;

  // Allocations that the fast path does not serve come by every time: now and then one keeps the clock of decay going.
  bool is_time_to_look() const noexcept { return (beyond & 7) == 7; }

  // Number of the grain at p, if that is in the main arena; of anything else, it is `opened` or more.
  POLDER_ALWAYS_INLINE std::size_t grain_of(const void* p) const noexcept {
    return (address(p) - address(base)) >> mem::grain_shift;
  }
};

}  // namespace polder::heap
