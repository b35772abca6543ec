#include "trace/encoder.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "trace/varint.hpp"

namespace polder::trace {
namespace {

void append(std::vector<std::uint8_t>& to, std::uint64_t value) {
  std::uint8_t bytes[longest_varint];
  to.insert(to.end(), bytes, put_varint(bytes, value));
}

}  // namespace

void encoder::add(const event& e) {
  auto& [ops, threads, times, sizes, alignments, objects] = columns_;
  const bool other = e.thread != thread_;
  ops.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(e.what) | (e.failed ? op_failed : 0) |
                                          (e.null ? op_null : 0) | (e.gone ? op_gone : 0) |
                                          (other ? op_other_thread : 0)));
  if (other) append(threads, e.thread);
  append(times, e.time_ns - time_ns_);
  if (e.has_size()) append(sizes, e.size);
  if (is_aligned(e.what)) alignments.push_back(e.alignment_log2);
  if (e.uses()) append(objects, objects_ - 1 - e.object);
  thread_ = e.thread;
  threads_ = std::max(threads_, e.thread + 1);
  time_ns_ = e.time_ns;
  objects_ += e.makes();
  ++events_;
  ++all_events_;
}

std::vector<std::uint8_t> encoder::take() {
  std::vector<std::uint8_t> payload;
  for (auto& column : columns_) {
    append(payload, column.size());
    payload.insert(payload.end(), column.begin(), column.end());
    column.clear();
  }
  uLongf stored = compressBound(payload.size());
  std::vector<std::uint8_t> chunk(sizeof(chunk_header) + stored);
  if (compress2(chunk.data() + sizeof(chunk_header), &stored, payload.data(), payload.size(), Z_BEST_COMPRESSION) !=
      Z_OK)
    throw bad_trace("no memory to compress a chunk");
  chunk.resize(sizeof(chunk_header) + stored);
  chunk_header h{events_, static_cast<std::uint32_t>(payload.size()), static_cast<std::uint32_t>(stored), 0};
  h.checksum =
      static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(&h), offsetof(chunk_header, checksum)));
  h.checksum = static_cast<std::uint32_t>(crc32(h.checksum, chunk.data() + sizeof h, static_cast<uInt>(stored)));
  std::memcpy(chunk.data(), &h, sizeof h);
  events_ = 0;
  ++chunks_;
  return chunk;
}

file_header encoder::header(file_header about) const {
  std::memcpy(about.magic, file_magic, sizeof about.magic);
  about.version = format_version;
  about.chunks = chunks_;
  about.events = all_events_;
  about.objects = objects_;
  about.threads = threads_;
  about.duration_ns = time_ns_;
  about.checksum =
      static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(&about), offsetof(file_header, checksum)));
  return about;
}

}  // namespace polder::trace
