// What a trace holds may come from anywhere. The input is read as a file; then, as fuzzers do not guess checksums, as the
// payload of a chunk in a file that is right around it, after two bytes that say how many events and objects there are;
// then as the records of a raw recording, and the trace that comes of those must be one the reader takes.
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "trace/pack.hpp"
#include "trace/raw_format.hpp"
#include "trace/reader.hpp"

namespace {

using namespace polder::trace;
using bytes = std::vector<std::uint8_t>;

bool read_all(std::span<const std::uint8_t> file) {
  try {
    reader from(file);
    event e;
    while (from.next(e)) {
    }
    return true;
  } catch (const bad_trace&) {
    return false;
  }
}

void as_payload(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return;
  const std::uint32_t events = data[0] + 1u;
  const std::uint32_t objects = std::min<std::uint32_t>(data[1], events);
  data += 2;
  size -= 2;
  uLongf stored = compressBound(size);
  bytes file(sizeof(file_header) + sizeof(chunk_header) + stored);
  std::uint8_t* payload = file.data() + sizeof(file_header) + sizeof(chunk_header);
  if (compress2(payload, &stored, data, size, 1) != Z_OK) std::abort();
  file.resize(sizeof(file_header) + sizeof(chunk_header) + stored);
  const auto crc = [](std::uint32_t so_far, const void* p, std::size_t n) {
    return static_cast<std::uint32_t>(crc32(so_far, static_cast<const Bytef*>(p), static_cast<uInt>(n)));
  };
  chunk_header chunk{events, static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(stored), 0};
  chunk.checksum = crc(crc(0, &chunk, offsetof(chunk_header, checksum)), payload, stored);
  file_header about{};
  std::memcpy(about.magic, file_magic, sizeof about.magic);
  about.version = format_version;
  about.chunks = 1;
  about.events = events;
  about.objects = objects;
  about.threads = std::min(events, 4u);
  about.duration_ns = ~std::uint64_t{0};
  about.checksum = crc(0, &about, offsetof(file_header, checksum));
  std::memcpy(file.data(), &about, sizeof about);
  std::memcpy(file.data() + sizeof about, &chunk, sizeof chunk);
  read_all(file);
}

void as_recording(const std::uint8_t* data, std::size_t size) {
  bytes recording(raw::header_size + 2 * raw::chunk_size);
  std::memcpy(recording.data(), raw::magic, sizeof raw::magic);
  const std::size_t half = size / 2;
  for (std::size_t n = 0; n < 2; ++n) {
    std::uint8_t* chunk = recording.data() + raw::header_size + n * raw::chunk_size;
    const auto used = static_cast<std::uint32_t>(std::min(n == 0 ? half : size - half, raw::chunk_size - 8));
    std::memcpy(chunk, &used, sizeof used);
    if (used != 0) std::memcpy(chunk + 8, data + n * half, used);
  }
  bytes file(sizeof(file_header));
  const file_header about =
      pack(recording, [&](const bytes& chunk) { file.insert(file.end(), chunk.begin(), chunk.end()); });
  std::memcpy(file.data(), &about, sizeof about);
  if (!read_all(file)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_all({data, size});
  as_payload(data, size);
  as_recording(data, size);
  return 0;
}
