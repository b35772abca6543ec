#pragma once
// recorder — writes the calls of this process into a raw file (raw_format.hpp), from inside malloc.
//
//   in malloc     yes: it never allocates; memory is its thread's, or mapped from the file
//   progress      wait-free but for the system calls of a new chunk, one in some thousands of calls
//   in handlers   a call that interrupts another one of the same thread is forwarded and not recorded
//
// A thread has a chunk of the file mapped and appends to it alone. When the thread ends the chunk is parked, and the next
// thread to begin takes it over: hand-over by one exchange on one of a few words.
//
// A forked child finds its page of state wiped (MADV_WIPEONFORK), however it was forked, and never touches its parent's
// chunks: it begins a file of its own, or records nothing.
#include <time.h>

#include <atomic>
#include <cstdint>

#include "trace/event.hpp"
#include "trace/raw_format.hpp"
#include "trace/varint.hpp"

namespace polder::trace {

// What a thread writes with. Owner only.
struct recording_thread {
  std::uint8_t* at = nullptr;
  std::uint8_t* end = nullptr;  // no record begins behind it
  raw::chunk* chunk = nullptr;
  std::uint64_t ticket = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t address = 0;
  std::uint32_t number = 0;      // from 1; 0: none yet
  std::uint32_t generation = 0;  // the process in which all of this is valid: see recorder::generation_
  bool busy = false;             // inside a call; calls from there are the allocator's own, or a handler's
  bool ending = false;           // past its destructor: keeps no chunk
};

class recorder {
 public:
  // The calling thread's side, marked busy and with room for one record; null when this call is not to be recorded.
  recording_thread* enter();
  void leave(recording_thread& thread) {
    thread.busy = false;
    if (thread.ending) [[unlikely]]
      park(thread);
  }

  std::uint64_t draw_ticket() { return tickets_.fetch_add(1, std::memory_order_relaxed); }

  void made(recording_thread& t, call what, std::uint64_t size, std::uint64_t alignment, const void* block) {
    record r(t, what, draw_ticket());
    r.number(size);
    if (is_aligned(what)) r.number(alignment);
    r.address(block);
  }
  void used(recording_thread& t, call what, const void* block) {  // before it is gone
    record r(t, what, draw_ticket());
    r.address(block);
  }
  // `before` was drawn before the call; the second ticket is drawn here.
  void resized(recording_thread& t, std::uint64_t before, std::uint64_t size, const void* old, const void* block) {
    record r(t, call::realloc, before);
    r.number(size);
    r.address(old);
    r.address(block);
    const std::uint64_t after = draw_ticket();
    r.number(after - before);
    t.ticket = after;
  }

 private:
  // Writes a record where the thread is; complete when it goes out of scope.
  class record {
   public:
    record(recording_thread& t, call what, std::uint64_t ticket) : t_(t), at_(t.at) {
      timespec now{};
      clock_gettime(CLOCK_MONOTONIC, &now);
      const std::uint64_t ns =
          static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
      *at_++ = static_cast<std::uint8_t>(what);
      number(ticket - t.ticket);
      number(ns - t.time_ns);
      t.ticket = ticket;
      t.time_ns = ns;
    }
    record(const record&) = delete;
    record& operator=(const record&) = delete;
    ~record() {
      t_.at = at_;
      t_.chunk->used.store(static_cast<std::uint32_t>(at_ - t_.chunk->records),
                           std::memory_order_release);  // sync: record-written
    }
    void number(std::uint64_t value) { at_ = put_varint(at_, value); }
    void address(const void* block) {
      const auto value = reinterpret_cast<std::uint64_t>(block);
      if (value == 0) {
        *at_++ = 0;
        return;
      }
      number(zigzag(static_cast<std::int64_t>(value - t_.address)) + 1);
      t_.address = value;
    }

   private:
    recording_thread& t_;
    std::uint8_t* at_;
  };

  bool begin();
  bool take_chunk(recording_thread& thread);
  raw::chunk* map_chunk();
  void keep_open(int file);
  bool still_open() const;
  void park(recording_thread& thread);
  void stop();
  static void thread_ends(void*);

  enum mode : std::uint32_t { unknown = 0, recording = 1, off = 2 };
  // On a page that a fork wipes: a child starts as `unknown`.
  struct page {
    std::atomic<std::uint32_t> mode;
  };

  page before_{};
  page* page_ = &before_;
  alignas(64) std::atomic<std::uint64_t> tickets_{
      0};  // by everyone, relaxed: the counter's own order is all that counts
  alignas(64) std::atomic<std::uint32_t> threads_{0};
  std::atomic<std::uint64_t> chunks_{0};
  std::atomic<raw::chunk*> parked_[64]{};  // by the thread that gives or takes the chunk, by exchange
  raw::header* header_ = nullptr;
  std::uint32_t generation_ = 0;  // one more in each child; written while it has one thread
  unsigned key_ = 0;
  bool has_key_ = false;
  bool told_ = false;  // what the environment says is in folder_
  bool with_children_ = false;
  // Kept open for programs that give up their rights to open it again; others close what they do not know.
  int kept_ = -1;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  char folder_[512] = {};
  char file_[600] = {};
};

extern constinit recorder the_recorder;
extern constinit thread_local recording_thread this_thread [[gnu::tls_model("initial-exec")]];

inline recording_thread* recorder::enter() {
  recording_thread& t = this_thread;
  if (t.busy) return nullptr;
  const std::uint32_t mode = page_->mode.load(std::memory_order_acquire);  // sync: begun
  if (mode == off) return nullptr;
  t.busy = true;
  if (mode == unknown && !begin()) [[unlikely]] {
    t.busy = false;
    return nullptr;
  }
  if (t.at >= t.end || t.generation != generation_) [[unlikely]] {
    if (!take_chunk(t)) {
      t.busy = false;
      return nullptr;
    }
  }
  return &t;
}

}  // namespace polder::trace
