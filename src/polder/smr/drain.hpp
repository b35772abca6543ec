#pragma once
// drain — how objects that are safe to free are freed: chosen when a domain is made, the same for every scheme.
//
//   paper   Kim, "Memory reclamation and allocation" (thesis), chapter 3: batches that are freed at once flood the
//           allocator's caches; one object an operation does not. Section 3.5 names the others as ideas
//
//   at_once        the whole batch when it becomes safe
//   amortized      n objects an operation (the thesis: 1). Keeps pace as long as an operation retires at most n; how much
//                  waits is a matter of how far n is above that. An (a,b)-tree retires up to one an operation: with
//                  more threads than processors one leaves 1.3 to 2 times the garbage of at_once, two leave as much as
//                  at_once and cost no throughput (two processors, 2026-11)
//   adaptive       two for each object that is retired, and one an operation. Bound: see keeps_pace
//   catch_up       amortized, and when more than `catch_up_above` wait, the operation that sees it frees down to half
//   background     a thread of the domain's own frees whole batches (the thesis, 5.2: not enough)
//   pooled         the memory goes to the thread's pool, from which make() takes it; destructors run at once
//   to_allocator   the whole batch in one call of polder_free_batch, where the process has it
//
// Each of them may be size-aware: an object of `at_once_from` bytes or more is freed as soon as it is safe.
//
// keeps_pace. Let r be the most objects that a thread retires under one tag, and P those that wait to become safe: P <= 3r
// under three tags. Of w safe ones two are freed when one is retired, so w + P falls by one as long as w >= 2. It grows
// only while w < 2, to P + 2 at most; a batch that becomes safe leaves it as it is. Hence w + P <= 3r + 2, always. One for
// one would do for the bound; two shrink what a burst left
// (drain_test.cpp holds bursts and pauses against it). What a deleter retires is paid for when it has returned.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace polder::smr {

struct drain_policy {
  enum class way : std::uint8_t { at_once, amortized, adaptive, catch_up, background, pooled, to_allocator };

  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  way how = way::at_once;
  unsigned an_operation = 1;          // amortized, catch_up: objects
  std::size_t catch_up_above = 4096;  // objects
  std::size_t at_once_from = never;   // bytes: size-aware
};

struct named_drain {
  std::string_view name;
  std::string_view summary;
  drain_policy policy;
};

// The registry of drains.
inline constexpr named_drain all_drains[] = {
    {"at_once", "a batch as soon as it is safe", {.how = drain_policy::way::at_once}},
    {"amortized", "one object an operation", {.how = drain_policy::way::amortized}},
    {"amortized_2", "two objects an operation", {.how = drain_policy::way::amortized, .an_operation = 2}},
    {"adaptive", "two objects for each that is retired", {.how = drain_policy::way::adaptive}},
    {"catch_up", "one an operation, and a burst when too many wait", {.how = drain_policy::way::catch_up}},
    {"size_aware",
     "one an operation, objects of 64 KiB and more at once",
     {.how = drain_policy::way::amortized, .at_once_from = 64 * 1024}},
    {"background", "batches, by a thread of their own", {.how = drain_policy::way::background}},
    {"pooled", "memory back to the structure's own pool", {.how = drain_policy::way::pooled}},
    {"to_allocator", "a batch in one call of the allocator", {.how = drain_policy::way::to_allocator}},
};

}  // namespace polder::smr
