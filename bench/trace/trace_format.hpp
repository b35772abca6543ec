#pragma once
// trace_format — the file that a trace is: small, checked, the same on every machine (little-endian).
//
//   file    header | chunk | chunk | ...        exactly as many chunks and events as the header says, and nothing behind
//   chunk   chunk_header | payload, deflated
//   payload six columns, each a varint of its length and its bytes. An event takes from each what it has:
//             ops         one byte: call, flags below
//             threads     varint, where the thread is another one than that of the event before
//             times       varint, ns since the event before
//             sizes       varint, where the call has a size
//             alignments  byte, log2, of the aligned calls
//             objects     varint, where the call is about an object that is there: how many were made since
//   An object's number is not written where it is made: the next one is taken.
//
// By column, because deflate then finds what repeats: about 3 bytes an event in place of 8 by row.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "trace/event.hpp"

namespace polder::trace {

static_assert(std::endian::native == std::endian::little);

inline constexpr char file_magic[8] = {'P', 'O', 'L', 'D', 'E', 'R', 'T', 'R'};
inline constexpr std::uint32_t format_version = 1;
inline constexpr unsigned columns = 6;
inline constexpr std::uint32_t events_in_chunk = 16384;
inline constexpr std::uint32_t most_payload = events_in_chunk * 48;
inline constexpr std::uint32_t most_threads = 65536;

// Bits of an op, above the call.
inline constexpr std::uint8_t op_call = 0x0f;
inline constexpr std::uint8_t op_failed = 0x10;
inline constexpr std::uint8_t op_null = 0x20;
inline constexpr std::uint8_t op_gone = 0x40;
inline constexpr std::uint8_t op_other_thread = 0x80;

struct file_header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t chunks;
  std::uint64_t events;
  std::uint64_t objects;
  std::uint64_t duration_ns;
  std::uint64_t foreign;  // calls about blocks whose making was not seen; they are not in the trace
  std::uint32_t threads;
  std::uint32_t
      cut_short;     // not 0: there was no more room, or there were more than most_threads; the program went on
  char program[40];  // base name, ends in a zero
  std::uint32_t unused;
  std::uint32_t checksum;  // CRC-32 of what is before it
};
static_assert(sizeof(file_header) == 104);

struct chunk_header {
  std::uint32_t events;
  std::uint32_t payload;   // bytes
  std::uint32_t stored;    // bytes, deflated
  std::uint32_t checksum;  // CRC-32 of the three above and of the stored bytes
};
static_assert(sizeof(chunk_header) == 16);

// What is wrong with a file, in words for its user.
struct bad_trace : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace polder::trace
