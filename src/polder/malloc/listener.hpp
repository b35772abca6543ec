#pragma once
// listener — whom to call when something happens, and with what; at any time another may be named instead.
//
//   paper      none
//   progress   now(): wait-free; set(): the same, but for the allocator's part
//   in malloc  now(): yes; set(): no, it allocates
//   invariant  what was named stays where it is, as it is, when another takes its place: a thread may be on its way
//              to it
#include <cstddef>
#include <new>

#include <polder/sync/atomic.hpp>

namespace polder::face {

template <class Called>
class listener {
 public:
  struct target {
    plain<Called*> called;
    plain<void*> data;

    template <class... Arguments>
    auto operator()(Arguments... arguments) const {
      return called.get()(arguments..., data.get());
    }
  };

  listener() = default;  // nobody
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  // Null: nobody.
  const target* now() const noexcept { return now_.load(order::acquire); }  // sync: listener-set

  // Nobody, if `called` is null. `allocate(bytes)`: room that nobody gives back; null if there is none, and then the
  // answer is false and nothing changed.
  template <class Allocate>
  bool set(Called* called, void* data, Allocate&& allocate) {
    target* fresh = nullptr;
    if (called != nullptr) {
      void* const room = allocate(sizeof *fresh);
      if (room == nullptr) return false;
      fresh = new (room) target{plain<Called*>(called), plain<void*>(data)};
    }
    now_.store(fresh, order::release);  // sync: listener-set
    return true;
  }

 private:
  // now_ — null for nobody.
  //   written by  whoever names one
  //   read by     who meets what is listened for
  //   order       listener-set: publishes what it points to
  //   ABA         no: none is ever made anew
  atomic<const target*> now_;
};

}  // namespace polder::face
