#include "trace/pack.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <queue>
#include <unordered_map>

#include "trace/encoder.hpp"
#include "trace/raw_format.hpp"
#include "trace/varint.hpp"

namespace polder::trace {
namespace {

constexpr std::uint32_t no_object = ~std::uint32_t{0};

struct raw_record {
  call what = call::malloc;
  std::uint32_t thread = 0;
  std::uint64_t ticket = 0;
  std::uint64_t second_ticket = 0;  // realloc
  std::uint64_t time_ns = 0;
  std::uint64_t size = 0;
  std::uint64_t alignment = 0;
  std::uint64_t old = 0;      // the block that is used
  std::uint64_t address = 0;  // the block that is made, or null
};

// The records of one chunk in order; ends at the first one that is not whole.
class chunk_cursor {
 public:
  explicit chunk_cursor(byte_reader records) : records_(records) {}

  bool next(raw_record& r) {
    std::uint8_t op = 0;
    while (records_.byte(op)) {
      if (op != raw::op_thread) return op < calls && read(static_cast<call>(op), r);
      std::uint64_t thread = 0;
      if (!records_.varint(thread) || !records_.varint(ticket_) || !records_.varint(time_ns_)) return false;
      thread_ = static_cast<std::uint32_t>(thread);
      address_ = 0;
    }
    return false;
  }

 private:
  bool read(call what, raw_record& r) {
    std::uint64_t ticket = 0;
    std::uint64_t ns = 0;
    if (!records_.varint(ticket) || !records_.varint(ns)) return false;
    r = raw_record{};
    r.what = what;
    r.thread = thread_;
    r.ticket = ticket_ += ticket;
    r.time_ns = time_ns_ += ns;
    if (what == call::free || what == call::usable_size) return address(r.old);
    if (!records_.varint(r.size)) return false;
    if (is_aligned(what) && !records_.varint(r.alignment)) return false;
    if (what == call::realloc && !address(r.old)) return false;
    if (!address(r.address)) return false;
    if (what != call::realloc) return true;
    if (!records_.varint(ticket)) return false;
    r.second_ticket = ticket_ += ticket;
    return true;
  }
  bool address(std::uint64_t& value) {
    if (!records_.varint(value)) return false;
    if (value != 0) value = address_ += static_cast<std::uint64_t>(unzigzag(value - 1));
    return true;
  }

  byte_reader records_;
  std::uint64_t ticket_ = 0;
  std::uint64_t time_ns_ = 0;
  std::uint64_t address_ = 0;
  std::uint32_t thread_ = 0;
};

// How many of the first `most` bytes of a name make whole letters of UTF-8.
std::size_t whole_letters(const char* name, std::size_t most) {
  if (strnlen(name, most + 1) <= most) return strnlen(name, most);
  while (most > 0 && (name[most] & 0xc0) == 0x80) --most;
  return most;
}

class packer {
 public:
  packer(std::span<const std::uint8_t> recording, const std::function<void(const std::vector<std::uint8_t>&)>& put)
      : put_(put) {
    for (std::size_t at = raw::header_size; at + 8 <= recording.size(); at += raw::chunk_size) {
      const std::size_t room = std::min(recording.size() - at, raw::chunk_size) - 8;
      std::uint32_t used = 0;
      std::memcpy(&used, recording.data() + at, sizeof used);
      const std::uint8_t* records = recording.data() + at + 8;
      sources_.push_back(
          {chunk_cursor(byte_reader(records, records + std::min<std::size_t>(used, room))), {}, no_object, false});
    }
    for (std::size_t n = 0; n < sources_.size(); ++n) advance(n);
  }

  // All records in the order of their tickets. A realloc comes twice: at its first ticket the old block goes back, at
  // its second the new one is there. Up to the first call of a thread for which the format has no number.
  void run() {
    while (!order_.empty()) {
      const std::size_t n = order_.top().second;
      order_.pop();
      source& s = sources_[n];
      cut_short_ = threads_.size() == most_threads && !threads_.contains(s.record.thread);
      if (cut_short_) break;
      if (s.half_done) {
        made(s.record, s.object);
        s.half_done = false;
      } else if (s.record.what == call::realloc) {
        s.object = begin_resize(s.record);
        s.half_done = true;
        order_.emplace(s.record.second_ticket, n);
        continue;
      } else {
        simple(s.record);
      }
      advance(n);
    }
    if (!encoder_.empty()) put_(encoder_.take());
  }

  file_header header(const raw::header& h) const {
    file_header about{};
    about.foreign = foreign_;
    about.cut_short = cut_short_ || h.cut_short != 0;
    std::memcpy(about.program, h.program, whole_letters(h.program, sizeof about.program - 1));
    return encoder_.header(about);
  }

 private:
  struct source {
    chunk_cursor cursor;
    raw_record record;
    std::uint32_t object;  // of a realloc whose second half is to come
    bool half_done;
  };

  void advance(std::size_t n) {
    if (sources_[n].cursor.next(sources_[n].record)) order_.emplace(sources_[n].record.ticket, n);
  }

  event of(const raw_record& r) {
    event e;
    e.what = r.what;
    e.size = r.size;
    const auto known = threads_.try_emplace(r.thread, static_cast<std::uint32_t>(threads_.size())).first;
    e.thread = known->second;
    // The clock is read beside the ticket, not together with it.
    if (!begun_) first_ns_ = r.time_ns;
    begun_ = true;
    last_ns_ = std::max(last_ns_, r.time_ns > first_ns_ ? r.time_ns - first_ns_ : 0);
    e.time_ns = last_ns_;
    if (r.alignment > 1) e.alignment_log2 = static_cast<std::uint8_t>(std::bit_width(r.alignment - 1) % 64);
    return e;
  }

  void write(const event& e) {
    encoder_.add(e);
    if (encoder_.full()) put_(encoder_.take());
  }

  std::uint32_t new_object() {
    if (objects_ == no_object) throw bad_trace("more than 2^32 objects");
    return objects_++;
  }

  void simple(const raw_record& r) {
    const bool of_block = r.what == call::free || r.what == call::usable_size;
    const auto found = of_block && r.old != 0 ? live_.find(r.old) : live_.end();
    if (of_block && r.old != 0 && found == live_.end()) {
      ++foreign_;
      return;
    }
    event e = of(r);  // from here on the thread has an event, and so a number
    if (of_block) {
      e.null = r.old == 0;
      if (!e.null) e.object = found->second;
      if (!e.null && r.what == call::free) live_.erase(found);
    } else {
      e.failed = r.address == 0;
      if (!e.failed) live_[r.address] = new_object();
    }
    write(e);
  }

  // The object that keeps its number through the realloc; none where nothing will be there.
  std::uint32_t begin_resize(const raw_record& r) {
    const auto found = r.old == 0 ? live_.end() : live_.find(r.old);
    event e = of(r);
    e.null = found == live_.end();
    if (r.old != 0 && e.null) ++foreign_;
    if (e.null) {
      e.failed = r.address == 0;
      const std::uint32_t made = e.failed ? no_object : new_object();
      write(e);
      return made;
    }
    e.object = found->second;
    e.gone = r.address == 0 && r.size == 0;
    e.failed = r.address == 0 && r.size != 0;
    if (!e.failed) live_.erase(found);
    write(e);
    return e.gone || e.failed ? no_object : e.object;
  }
  void made(const raw_record& r, std::uint32_t object) {
    if (object != no_object) live_[r.address] = object;
  }

  const std::function<void(const std::vector<std::uint8_t>&)>& put_;
  std::vector<source> sources_;
  using turn = std::pair<std::uint64_t, std::size_t>;
  std::priority_queue<turn, std::vector<turn>, std::greater<>> order_;
  std::unordered_map<std::uint64_t, std::uint32_t> live_;  // address to object
  std::unordered_map<std::uint32_t, std::uint32_t> threads_;
  encoder encoder_;
  std::uint32_t objects_ = 0;
  std::uint64_t foreign_ = 0;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  bool begun_ = false;
  bool cut_short_ = false;
};

}  // namespace

raw::header raw_header(std::span<const std::uint8_t> recording) {
  raw::header h;
  if (recording.size() < sizeof h) throw bad_trace("truncated: a raw recording is longer than that");
  std::memcpy(&h, recording.data(), sizeof h);
  if (std::memcmp(h.magic, raw::magic, sizeof h.magic) != 0) throw bad_trace("not a raw recording");
  h.program[sizeof h.program - 1] = '\0';
  return h;
}

file_header pack(std::span<const std::uint8_t> recording,
                 const std::function<void(const std::vector<std::uint8_t>&)>& put) {
  const raw::header h = raw_header(recording);
  packer work(recording, put);
  work.run();
  return work.header(h);
}

}  // namespace polder::trace
