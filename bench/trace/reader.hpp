#pragma once
// reader — the events of a trace in order, each one checked: what it hands out can be replayed without a further look.
//
// Throws bad_trace. Its memory is mapped, zlib's too, so that a heap under test in the same process never sees it.
#include <zlib.h>

#include <cstdint>
#include <span>

#include "core/mapped_array.hpp"
#include "trace/event.hpp"
#include "trace/trace_format.hpp"
#include "trace/varint.hpp"

namespace polder::trace {

class reader {
 public:
  // The bytes must stay until the reader is gone. Header and the frame of all chunks are checked here.
  explicit reader(std::span<const std::uint8_t> file);
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;
  ~reader();

  const file_header& about() const { return about_; }
  // False at the end, which has then been checked to be one.
  bool next(event& e);

 private:
  void open_chunk();
  void close_chunk();
  void take(std::uint8_t op, event& e);
  [[noreturn]] void fail(const char* what) const;
  static void* zlib_allocate(void* of, unsigned n, unsigned size);
  static void zlib_free(void*, void*) {}

  std::span<const std::uint8_t> rest_;
  file_header about_{};
  bench::mapped_array<std::uint8_t> payload_;
  bench::mapped_array<std::uint8_t> zlib_memory_;
  std::size_t zlib_used_ = 0;
  z_stream inflater_{};
  bench::mapped_array<std::uint8_t> alive_;  // by object
  byte_reader columns_[columns];
  std::uint32_t left_in_chunk_ = 0;
  std::uint32_t chunk_ = 0;
  std::uint64_t event_ = 0;
  std::uint64_t objects_ = 0;
  std::uint32_t thread_ = 0;
  std::uint64_t time_ns_ = 0;
};

// A whole file, mapped for reading.
class mapped_file {
 public:
  explicit mapped_file(const char* path);  // throws bad_trace
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file();
  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace polder::trace
