#pragma once
// timeline_kept_events — of which recording the events of a buffer are, and how many of them are whole.
//
//   progress   wait-free
//   in malloc  yes; in signal  yes
//   invariant  of those counted none changes for as long as the session does
#include <cstdint>

#include <polder/sync/atomic.hpp>

namespace polder::os::timeline {

class kept_events {
 public:
  // ---- by the owner

  std::uint32_t own_count() const noexcept { return count_.load(order::relaxed); }
  // The next one is written.
  void add() noexcept { count_.store(own_count() + 1, order::release); }  // sync: timeline-kept
  // They are nobody's, and what else is counted may be cleared.
  void empty() noexcept { count_.store(0, order::relaxed); }
  // Once all is cleared: what comes belongs to this session.
  void begin(std::uint32_t session) noexcept { session_.store(session, order::release); }  // sync: timeline-begun

  // ---- by anybody

  bool is_of(std::uint32_t session) const noexcept {
    return session_.load(order::acquire) == session;  // sync: timeline-begun
  }
  std::uint32_t count() const noexcept { return count_.load(order::acquire); }  // sync: timeline-kept

 private:
  // count_ — events kept.
  //   written by  the owner
  //   read by     the writer of the file; who takes the buffer over
  //   order       timeline-kept: the release publishes the event
  atomic<std::uint32_t> count_{0};
  // session_ — of which recording the events are; 0: none.
  //   written by  the owner, when it first records in a session
  //   order       timeline-begun: the release publishes the empty counters
  atomic<std::uint32_t> session_{0};
};

}  // namespace polder::os::timeline
