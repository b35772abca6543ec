#pragma once
// timeline_sessions — who starts and stops recordings, which one it is, and every buffer that threads have for their events.
//
//   progress   wait-free, but for list(), which is lock-free
//   in malloc  yes; in signal  yes
//
// Buffer has: next (Buffer*, written here), is_of(session), and owner() and take_over(from, to) for who it is of.
#include <cstdint>

#include <polder/sync/atomic.hpp>

namespace polder::os::timeline {

template <class Buffer>
class sessions {
 public:
  // ---- by who starts or stops; who finds it held does nothing

  [[nodiscard]] bool hold() noexcept { return !held_.exchange(true, order::acquire); }  // sync: timeline-control
  void let_go() noexcept { held_.store(false, order::release); }                        // sync: timeline-control

  std::uint32_t held() const noexcept { return session_.load(order::relaxed); }
  // Once the settings are there, and nobody reads of the session before.
  void begin() noexcept {
    const std::uint32_t next = held() + 1;
    session_.store(next != 0 ? next : 1, order::release);  // sync: timeline-session
  }

  // ---- by each thread

  std::uint32_t now() const noexcept { return session_.load(order::acquire); }  // sync: timeline-session

  // The newest of all.
  Buffer* first() const noexcept { return all_.load(order::acquire); }  // sync: timeline-listed
  void list(Buffer* b) noexcept {
    Buffer* before = all_.load(order::relaxed);
    do b->next = before;
    while (!all_.cas(before, b, order::release, order::relaxed));  // sync: timeline-listed
  }

  // One whose owner is gone, now `to`'s, if it fits; null: there is none. What a thread left in the present session stays, and
  // that may have begun since the caller looked.
  template <class Owner, class Fits, class Gone>
  Buffer* take_over(Owner to, Fits&& fits, Gone&& gone) noexcept {
    for (Buffer* b = first(); b != nullptr; b = b->next) {
      const Owner owner = b->owner();
      if (fits(*b) && gone(owner) && !b->is_of(now()) && b->take_over(owner, to)) return b;
    }
    return nullptr;
  }

  // In a fork's child, of which the caller is the only thread, and the buffers are no more.
  void forget() noexcept {
    all_.store(nullptr, order::relaxed);
    held_.store(false, order::relaxed);
  }

 private:
  // held_ — somebody starts or stops.
  //   order  timeline-control: whoever holds it next sees all of it
  atomic<bool> held_{false};
  // session_ — counts starts, and children of fork. Buffers of others are empty to this one.
  //   written by  who holds it
  //   read by     each thread with each event
  //   order       timeline-session: the release publishes the settings, and that nobody reads the session before
  atomic<std::uint32_t> session_{0};
  // all_ — every buffer there is, newest first; none is ever taken out.
  //   written by  threads, at their first event
  //   order       timeline-listed: the release publishes the buffer
  //   ABA         no: a buffer is listed once
  atomic<Buffer*> all_{nullptr};
};

}  // namespace polder::os::timeline
