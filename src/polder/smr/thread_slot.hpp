#pragma once
// thread_slot — a small number for each thread, dense and used again, and word of its end to whoever asks for it.
//
//   const thread_slot::number mine = thread_slot::mine();
//
// The one registry of threads for what is built above the heaps: reclaimers keep a seat for each number, structures a
// counter. A number is held from the first mine() of a thread to its end; then whoever watches is told, and it is free
// for another thread. Heaps have words of their own (malloc/host.hpp), since they serve before this can.
//
//   progress   mine(): a load; the first of a thread lock-free, but for the watchers' lock inside the C library's keys.
//              watch, unwatch, the end of a thread and fork: under one lock
//   in malloc  no
//   fork       the child keeps the number of the thread that forked; the watchers hear that all others are gone
//
// The end of a thread. C++ thread_local objects are destroyed before; destructors of thread-specific data (pthread keys)
// may come after. One that asks for a number then gets one, and is watched again as long as the C library makes rounds;
// past these the number is `fleeting`: give_back() must be called when it is not needed any more. A number that any watcher
// still needs, for an open guard of the thread's or its drain, is kept: to the next round, or to the next give_back(). Rounds
// are counted from the registry's first call in one. What cannot be told is how many came before: if a thread asks for the
// first time in one of them, and in the last one again or then first, nobody hears of its end, and its number and its seats
// stay taken.
#include <cstdint>

#include <polder/base/config.hpp>

namespace polder::smr {

class thread_slot {
 public:
  using number = std::uint32_t;
  static constexpr number none = 0;      // numbers begin at 1
  static constexpr number most = 65535;  // as many threads at once; one more ends the process with a clear line

  // The calling thread's number.
  [[gnu::always_inline]] static number mine() noexcept {
    const number held = held_;
    return held != none ? held : take();
  }
  // The same, or none where it has none yet.
  static number held() noexcept { return held_; }

  // Whether nobody will hear of the calling thread's end: its holder must give_back() what it was given. Nothing happens
  // while some watcher needs it, who does the same later.
  static bool fleeting() noexcept { return fleeting_; }
  static void give_back() noexcept;

  // What may take a number, and needs it to its end alone.
  struct [[nodiscard]] one_call {
    ~one_call() {
      if (fleeting()) [[unlikely]]
        give_back();
    }
  };

 private:
  POLDER_NOINLINE static number take() noexcept;

  friend struct thread_slot_state;
  static constinit thread_local number held_;
  static constinit thread_local bool fleeting_;
  static constinit thread_local unsigned char rounds_;  // of thread-specific data's destruction that were seen
};

// Who wants to hear. All calls come under the watchers' lock: none may watch, unwatch or wait for a thread that does.
class thread_watcher {
 public:
  virtual void thread_ended(thread_slot::number who) noexcept = 0;  // by that thread, or by whoever it gave back

  // Whether the calling thread, whose number this is, must keep it: what it has under the number is in use.
  virtual bool needs(thread_slot::number) const noexcept { return false; }

  // In a fork's child: every thread but the calling one is gone, in whatever it was doing.
  virtual void forked(thread_slot::number survivor) noexcept = 0;

 protected:
  thread_watcher() noexcept = default;
  ~thread_watcher() = default;
  thread_watcher(const thread_watcher&) = delete;
  thread_watcher& operator=(const thread_watcher&) = delete;
  void watch() noexcept;
  void unwatch() noexcept;  // after it returns, none of the above is called any more

 private:
  friend struct thread_slot_state;
  thread_watcher* next_ = nullptr;
};

}  // namespace polder::smr
