#include "trace/reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "trace/raw_format.hpp"

namespace polder::trace {
namespace {

constexpr std::size_t zlib_needs = 64 << 10;

template <class T>
T at(std::span<const std::uint8_t> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::uint32_t crc(std::uint32_t so_far, const void* bytes, std::size_t n) {
  return static_cast<std::uint32_t>(crc32(so_far, static_cast<const Bytef*>(bytes), static_cast<uInt>(n)));
}

// Of a file whose frame was checked.
std::uint32_t largest_payload(std::span<const std::uint8_t> file) {
  std::uint32_t largest = 0;
  for (std::size_t at = sizeof(file_header); at < file.size();) {
    chunk_header c;
    std::memcpy(&c, file.data() + at, sizeof c);
    largest = std::max(largest, c.payload);
    at += sizeof c + c.stored;
  }
  return largest;
}

file_header checked_header(std::span<const std::uint8_t> file) {
  const auto begins = [&](const char(&magic)[8]) {
    return file.size() >= sizeof magic && std::memcmp(file.data(), magic, sizeof magic) == 0;
  };
  if (begins(raw::magic)) throw bad_trace("a raw recording, not yet a trace: `polder-trace pack` makes one of it");
  const std::size_t seen = std::min(file.size(), sizeof file_magic);
  if (seen == 0) throw bad_trace("empty");
  if (std::memcmp(file.data(), file_magic, seen) != 0) throw bad_trace("not a trace of Polder's");
  if (file.size() < sizeof(file_header)) throw bad_trace("truncated: it ends within its header");
  const auto h = at<file_header>(file);
  if (h.version != format_version)
    throw bad_trace("of format " + std::to_string(h.version) + ", and this program reads format " +
                    std::to_string(format_version));
  if (crc(0, &h, offsetof(file_header, checksum)) != h.checksum)
    throw bad_trace("corrupt: its header's checksum is wrong");

  std::uint64_t events = 0;
  std::span<const std::uint8_t> rest = file.subspan(sizeof h);
  for (std::uint32_t n = 0; n < h.chunks; ++n) {
    const auto truncated = [&] {
      return bad_trace("truncated: of " + std::to_string(h.chunks) + " chunks it holds " + std::to_string(n));
    };
    if (rest.size() < sizeof(chunk_header)) throw truncated();
    const auto c = at<chunk_header>(rest);
    rest = rest.subspan(sizeof c);
    if (c.stored > rest.size()) throw truncated();
    // Deflate makes nothing smaller than a thousandth, and an event has one byte at least.
    if (c.events == 0 || c.events > events_in_chunk || c.payload > most_payload || c.payload < c.events ||
        c.payload / 1100 > c.stored)
      throw bad_trace("corrupt: chunk " + std::to_string(n) + " says impossible sizes");
    rest = rest.subspan(c.stored);
    events += c.events;
  }
  if (!rest.empty()) throw bad_trace("corrupt: bytes behind its last chunk");
  if (events != h.events || h.objects > events || h.threads > std::min<std::uint64_t>(events, most_threads) ||
      std::memchr(h.program, '\0', sizeof h.program) == nullptr)
    throw bad_trace("corrupt: its header and its chunks disagree");
  return h;
}

}  // namespace

reader::reader(std::span<const std::uint8_t> file)
    : rest_(file),
      about_(checked_header(file)),
      payload_(largest_payload(file)),
      zlib_memory_(zlib_needs),
      alive_(about_.objects) {
  rest_ = rest_.subspan(sizeof(file_header));
  inflater_.zalloc = zlib_allocate;
  inflater_.zfree = zlib_free;
  inflater_.opaque = this;
  if (inflateInit(&inflater_) != Z_OK) throw bad_trace("cannot be inflated: zlib does not begin");
}

reader::~reader() { inflateEnd(&inflater_); }

// zlib asks once, when it begins, and on its first data: some 40 KB altogether.
void* reader::zlib_allocate(void* of, unsigned n, unsigned size) {
  auto& self = *static_cast<reader*>(of);
  const std::size_t bytes = (std::size_t{n} * size + 63) / 64 * 64;
  if (bytes > self.zlib_memory_.size() - self.zlib_used_) return nullptr;
  void* memory = &self.zlib_memory_[self.zlib_used_];
  self.zlib_used_ += bytes;
  return memory;
}

void reader::fail(const char* what) const {
  throw bad_trace("corrupt: " + std::string(what) + ", in chunk " + std::to_string(chunk_) + " at event " +
                  std::to_string(event_));
}

void reader::open_chunk() {
  const auto c = at<chunk_header>(rest_);
  const std::uint8_t* stored = rest_.data() + sizeof c;
  if (crc(crc(0, &c, offsetof(chunk_header, checksum)), stored, c.stored) != c.checksum) fail("a wrong checksum");
  inflateReset(&inflater_);
  inflater_.next_in = const_cast<Bytef*>(stored);
  inflater_.avail_in = c.stored;
  inflater_.next_out = payload_.begin();
  inflater_.avail_out = c.payload;
  const bool inflated =
      inflate(&inflater_, Z_FINISH) == Z_STREAM_END && inflater_.avail_out == 0 && inflater_.avail_in == 0;
  if (!inflated) fail("a payload that does not inflate");
  byte_reader payload(payload_.begin(), payload_.begin() + c.payload);
  for (auto& column : columns_) {
    std::uint64_t length = 0;
    if (!payload.varint(length) || !payload.part(length, column)) fail("columns that do not fit");
  }
  if (!payload.at_end()) fail("bytes behind the columns");
  rest_ = rest_.subspan(sizeof c + c.stored);
  left_in_chunk_ = c.events;
}

void reader::close_chunk() {
  for (const auto& column : columns_) {
    if (!column.at_end()) fail("a column that is too long");
  }
  ++chunk_;
}

void reader::take(std::uint8_t op, event& e) {
  auto& [ops, threads, times, sizes, alignments, objects] = columns_;
  std::uint64_t value = 0;
  if ((op & op_call) >= calls) fail("an unknown call");
  e = event{};
  e.what = static_cast<call>(op & op_call);
  e.failed = (op & op_failed) != 0;
  e.null = (op & op_null) != 0;
  e.gone = (op & op_gone) != 0;
  const bool of_block = e.what == call::free || e.what == call::usable_size || e.what == call::realloc;
  if ((e.failed && (e.what == call::free || e.what == call::usable_size)) || (e.null && !of_block) ||
      (e.gone && (e.what != call::realloc || e.null || e.failed)))
    fail("flags that no call has");

  if ((op & op_other_thread) != 0) {
    if (!threads.varint(value) || value >= about_.threads) fail("an unknown thread");
    thread_ = static_cast<std::uint32_t>(value);
  }
  e.thread = thread_;
  if (!times.varint(value) || value > about_.duration_ns - time_ns_) fail("a time after the end");
  e.time_ns = time_ns_ += value;
  if (e.has_size() && !sizes.varint(e.size)) fail("a missing size");
  if (is_aligned(e.what) && (!alignments.byte(e.alignment_log2) || e.alignment_log2 > 63))
    fail("a wrong alignment");
  if (e.uses()) {
    if (!objects.varint(value) || value >= objects_) fail("an object that was never made");
    e.object = static_cast<std::uint32_t>(objects_ - 1 - value);
    if (!alive_[e.object]) fail("an object that was freed before");
    alive_[e.object] = !e.ends();
  }
  if (e.makes()) {
    if (objects_ == about_.objects) fail("more objects than the header says");
    e.object = static_cast<std::uint32_t>(objects_);
    alive_[objects_++] = 1;
  }
}

bool reader::next(event& e) {
  if (left_in_chunk_ == 0) {
    if (event_ == about_.events) {
      if (objects_ != about_.objects) fail("fewer objects than the header says");
      return false;
    }
    open_chunk();
  }
  std::uint8_t op = 0;
  if (!columns_[0].byte(op)) fail("a missing event");
  take(op, e);
  ++event_;
  if (--left_in_chunk_ == 0) close_chunk();
  return true;
}

mapped_file::mapped_file(const char* path) {
  const auto why = [&] { return bad_trace(std::string("cannot be read: ") + std::strerror(errno)); };
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe without a writer is not waited for
  if (file < 0) throw why();
  struct stat about {};
  void* memory = nullptr;
  bool good = fstat(file, &about) == 0;
  if (good && !S_ISREG(about.st_mode)) {
    close(file);
    throw bad_trace("not a file");
  }
  if (good && about.st_size != 0) {
    memory = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    good = memory != MAP_FAILED;
  }
  const int error = errno;
  close(file);
  errno = error;
  if (!good) throw why();
  bytes_ = {static_cast<const std::uint8_t*>(memory), static_cast<std::size_t>(about.st_size)};
}

mapped_file::~mapped_file() {
  if (!bytes_.empty()) munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace polder::trace
