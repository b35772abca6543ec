#pragma once
// closing — an end after which nobody puts, and when the puts that were under way then are over.
//
//   paper      none; a store each and a look at the other's, as Dekker's mutual exclusion has them
//   progress   wait-free, but for settle(), which waits for the puts that are under way as long as it is told to
//   in malloc  yes
//
// States. An arrow is one store.
//
//     open ── close() ──▶ closed, puts under way ──(the last of them ends)──▶ settled
//
// A put says that it is under way before it looks whether it is closed, and close() stores before anybody looks for
// puts under way: one of the two sees the other. So what a put has put that did not find it closed is there when
// settle() returns, if it was not told to wait no longer.
#include <array>
#include <cstddef>
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

class closing {
  // How many puts are under way, of some of the threads.
  struct alignas(false_sharing_range) share {
    atomic<std::uint32_t> puts;
  };

 public:
  closing() = default;  // open
  closing(const closing&) = delete;
  closing& operator=(const closing&) = delete;

  // A put, as long as it lives: it looks whether it is closed, and then puts. `who`: a word of the thread's.
  class under_way {
   public:
    under_way(closing& c, std::uint32_t who) noexcept : mine_(c.shares_[who * 0x9e3779b1u >> 28]) {
      mine_.puts.fetch_add(1, order::seq_cst);  // sync: put-or-closed: store of what is under way, load of closed_
    }
    ~under_way() { mine_.puts.fetch_sub(1, order::release); }  // sync: put-ended
    under_way(const under_way&) = delete;
    under_way& operator=(const under_way&) = delete;

   private:
    share& mine_;
  };

  void close() noexcept {
    closed_.store(true, order::seq_cst);  // sync: put-or-closed: store of closed_, a look at puts under way
  }
  bool closed() const noexcept {
    return closed_.load(order::seq_cst);  // sync: put-or-closed: store of what is under way, load of closed_
  }

  // By who has seen it closed: puts that were under way then end, and no more begin. `wait()` lets others run; false: the caller
  // waits no longer, and some may not have ended.
  template <class Wait>
  void settle(Wait&& wait) const {
    for (const share& s : shares_) {
      while (s.puts.load(order::seq_cst) != 0 && wait()) {  // sync: put-ended, put-or-closed: after closed_
      }
    }
  }

 private:
  // closed_ — written once, by close(); read by all. Order: put-or-closed.
  alignas(false_sharing_range) atomic<bool> closed_;
  // shares_ — written by who puts, read by who settles.
  //   order  put-or-closed: see above; put-ended: who sees the end of a put sees the element
  //   ABA    of no harm: a put that begins later finds it closed
  std::array<share, 16> shares_;
};

}  // namespace polder::ds
