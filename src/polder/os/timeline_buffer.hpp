#pragma once
// timeline_buffer — where one thread keeps its events until they are written.
//
//   in malloc  yes; in signal  yes
//
//   invariant  events()[0 … count) are whole, and stay as they are for as long as the session does
#include <algorithm>
#include <cstddef>

#include <polder/os/timeline_format.hpp>
#include <polder/os/timeline_kept_events.hpp>

namespace polder::os::timeline {

// Written by its owner alone, read by whoever writes the file: relaxed, a figure to tell.
class counter {
 public:
  void add(std::uint64_t n) noexcept { n_.store(n_.load(order::relaxed) + n, order::relaxed); }
  void set(std::uint64_t n) noexcept { n_.store(n, order::relaxed); }
  std::uint64_t get() const noexcept { return n_.load(order::relaxed); }

 private:
  atomic<std::uint64_t> n_{0};
};

struct unkept {
  counter count, ticks;

  void add(std::uint64_t t) noexcept { count.add(1), ticks.add(t); }
  void clear() noexcept { count.set(0), ticks.set(0); }
  tally get() const noexcept { return {count.get(), ticks.get()}; }
};

class buffer {
 public:
  static constexpr std::size_t head_bytes = 1024;
  static constexpr std::size_t bytes_for(std::uint32_t events) {
    return head_bytes + std::size_t{events} * sizeof(event);
  }

  buffer(std::uint32_t room, std::uint32_t owner, std::uint16_t number) noexcept
      : room_(room), number_(number), owner_(owner) {}

  // By its owner. A handler that comes between busy and not busy finds no place of its own.
  void keep(kind k, std::uint64_t start, std::uint64_t end, std::uint32_t label, std::uint64_t count) noexcept {
    if (busy_.load(order::relaxed)) return interrupted_.add(1);
    busy_.store(true, order::relaxed);
    signal_fence();
    const std::uint32_t n = kept_.own_count();
    if (end != start && end - start < at_least_ && k != kind::batch_free && k != kind::bag_rotate) {
      brief_[unsigned(k)].add(end - start);
    } else if (n == limit_) [[unlikely]] {
      if (full_at_.get() == 0) full_at_.set(start);
      lost_[unsigned(k)].add(end - start);
    } else {
      events()[n] = {.start = start, .end = end, .count = count, .label = label, .thread = number_, .kind = k};
      kept_.add();
    }
    signal_fence();
    busy_.store(false, order::relaxed);
  }

  // By its owner: nothing is in it, and what comes belongs to this session.
  void begin(std::uint32_t session, std::uint32_t limit, std::uint64_t at_least) noexcept {
    limit_ = std::min(limit, room_);
    at_least_ = at_least;
    kept_.empty();
    interrupted_.set(0);
    full_at_.set(0);
    for (unkept& u : brief_) u.clear();
    for (unkept& u : lost_) u.clear();
    kept_.begin(session);
  }

  bool is_of(std::uint32_t session) const noexcept { return kept_.is_of(session); }
  std::uint32_t room() const noexcept { return room_; }
  std::uint16_t number() const noexcept { return number_; }
  std::size_t bytes() const noexcept { return bytes_for(room_); }

  // ---- whose it is: a thread's, by the kernel's number, even after its end
  std::uint32_t owner() const noexcept { return owner_.load(order::relaxed); }
  void abandon() noexcept { owner_.store(0, order::relaxed); }
  bool take_over(std::uint32_t from, std::uint32_t tid) noexcept {
    static_cast<void>(kept_.count());  // what its owner did last
    return owner_.cas(from, tid, order::relaxed, order::relaxed);
  }

  // ---- by whoever writes the file
  std::uint32_t count() const noexcept { return kept_.count(); }
  const event* begin_of_events() const noexcept { return reinterpret_cast<const event*>(base() + head_bytes); }
  void describe(thread_entry& to) const noexcept {
    to.tid = owner();
    to.number = number_;
    to.interrupted = interrupted_.get();
    to.full_at = full_at_.get();
    std::copy(name, name + sizeof name, to.name);
    for (unsigned k = 0; k != kinds; ++k) to.brief[k] = brief_[k].get(), to.lost[k] = lost_[k].get();
  }

  buffer* next = nullptr;     // in the list of all; set before it is in it
  bool chosen = false;        // by whoever writes the file: it is in it
  std::uint32_t written = 0;  // by whoever writes the file: as many events go there
  char name[16] = {};         // of the thread; by its owner, before begin()

 private:
  const std::byte* base() const noexcept { return reinterpret_cast<const std::byte*>(this); }
  event* events() noexcept { return const_cast<event*>(begin_of_events()); }

  const std::uint32_t room_;
  const std::uint16_t number_;
  std::uint32_t limit_ = 0;     // owner only
  std::uint64_t at_least_ = 0;  // ticks; owner only
  atomic<bool> busy_{false};    // owner and its signal handlers
  kept_events kept_;
  // owner_ — the kernel's number of the thread; 0: nobody's.
  //   written by  the owner, and by CAS who takes over the buffer of a thread that is gone
  //   order       relaxed: what is in the buffer goes by kept_
  atomic<std::uint32_t> owner_;
  counter interrupted_, full_at_;
  unkept brief_[kinds], lost_[kinds];
};
static_assert(sizeof(buffer) <= buffer::head_bytes);

}  // namespace polder::os::timeline
