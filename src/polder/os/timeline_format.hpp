#pragma once
// timeline_format — the file that a recording becomes. Little endian; read by lab/polder_lab/timeline/recording.py.
//
//   header   kind_entry × header.kinds   thread_entry × header.threads   event × (sum of thread_entry.events)
//
// A thread's events stand together, in the order of the threads, each thread's in the order in which they ended.
// The state is written last: a file whose state is `begun` belongs to a process that still runs, or was killed, or
// could not write to the end.
#include <cstdint>
#include <string_view>

#include <polder/os/timeline.hpp>

namespace polder::os::timeline {

inline constexpr std::uint64_t magic = 0x4c54'5245'444c'4f50;  // "POLDERTL" as the file has it
inline constexpr std::uint32_t version = 1;

struct event {
  std::uint64_t start = 0, end = 0;  // ticks; the same for a point
  std::uint64_t count = 0;
  std::uint32_t label = 0;
  std::uint16_t thread = 0;  // number of its entry's `number`
  timeline::kind kind = {};
  std::uint8_t unused = 0;
};
static_assert(sizeof(event) == 32);

// A reading of both clocks.
struct moment {
  std::uint64_t ticks = 0;
  std::uint64_t ns = 0;  // CLOCK_MONOTONIC
};

enum class file_state : std::uint32_t { begun, complete };

struct header {
  std::uint64_t magic = timeline::magic;
  std::uint32_t version = timeline::version;
  file_state state = file_state::begun;
  std::uint32_t pid = 0;
  std::uint32_t kinds = timeline::kinds;
  std::uint32_t threads = 0;
  std::uint32_t events_a_thread = 0;
  std::uint64_t at_least_ns = 0;
  moment begin, end;                 // ns / ticks between them is what a tick is worth
  std::uint64_t date_ns = 0;         // CLOCK_REALTIME at begin
  std::uint64_t lost_elsewhere = 0;  // events of threads that could get no buffer
  char command[168] = {};            // cut, zero-terminated
};
static_assert(sizeof(header) == 256);

enum class form : std::uint8_t { interval, point, gauge };

struct kind_entry {
  char name[30] = {};
  timeline::kind number = {};
  timeline::form form = {};
};
static_assert(sizeof(kind_entry) == 32);

// Events that were seen and not kept.
struct tally {
  std::uint64_t count = 0, ticks = 0;
};

struct thread_entry {
  std::uint32_t tid = 0;
  std::uint16_t number = 0;
  std::uint16_t unused = 0;
  std::uint64_t events = 0;       // in this file
  std::uint64_t interrupted = 0;  // lost, of signal handlers that interrupted a recording
  std::uint64_t full_at = 0;      // ticks of the first event that found no room; 0: there was room
  char name[16] = {};             // of the thread
  tally brief[kinds];             // shorter than at_least_ns
  tally lost[kinds];              // there was no room
};
static_assert(sizeof(thread_entry) == 48 + 2 * 16 * kinds);

struct kind_name {
  std::string_view name;
  timeline::form form;
};

// As `kind` counts.
inline constexpr kind_name kind_names[kinds] = {
    {"batch free", form::interval}, {"single free", form::interval}, {"epoch advance", form::point},
    {"token pass", form::point},    {"bag rotate", form::interval},  {"refill", form::interval},
    {"post", form::interval},       {"drain", form::interval},       {"span get", form::interval},
    {"span put", form::interval},   {"map", form::interval},         {"unmap", form::interval},
    {"advise", form::interval},     {"operation", form::interval},   {"unreclaimed", form::gauge},
};

}  // namespace polder::os::timeline
