#pragma once
// blocking — a collection whose users may wait: for an element, for room, until a time, and for the end.
//
//   blocking<ms_queue<job, R>> jobs(domain);
//   jobs.put(…);                                     // as the collection's own; false, too, once it is closed
//   while (auto j = jobs.wait_get()) …               // nothing: it is closed, and empty for ever
//   jobs.close();                                    // from here on put refuses, and get drains
//
//   paper      none; who sleeps and who wakes: parts/sleepers.hpp; the end: parts/closing.hpp
//   progress   blocking where it says wait; else the collection's own, and close() does not wait
//   in malloc  no
//
// While nobody waits, put and get make no system call: besides the collection's work put makes two fetch-and-adds on a word
// that few threads share, and a fence; get makes a fence where the collection is bounded or its emptiness may err.
//
// Sleeping is os/futex.hpp's, not std::atomic's wait: that has no time to end at.
//
// What a put that returned true has put is got before anybody hears it is over. Of a T whose move throws, what a get has in hand
// counts as got: if it cannot hand it over the element is inside again, but meanwhile others may have heard that it is
// empty, or over. So whoever catches what a get threw gets once more.
#include <sched.h>

#include <chrono>
#include <concepts>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/closing.hpp>
#include <polder/ds/parts/deadline.hpp>
#include <polder/ds/parts/patience.hpp>
#include <polder/ds/parts/sleepers.hpp>
#include <polder/os/futex.hpp>

namespace polder::ds {

template <class C>
class blocking {
 public:
  using value_type = typename C::value_type;
  static constexpr collection_info info = C::info;
  static_assert(info.empty != emptiness::waits);

  // What the collection's constructor takes, and throws.
  template <class... Arguments>
  explicit blocking(Arguments&&... arguments)
    requires std::constructible_from<C, Arguments...>
      : of_(std::forward<Arguments>(arguments)...) {}
  blocking(const blocking&) = delete;
  blocking& operator=(const blocking&) = delete;

  // False: it is full or closed, and the value is as it was. Throws what the collection's put throws.
  bool put(value_type&& value) {
    {
      const closing::under_way here(end_, os::thread_mark());
      if (closed() || !of_.put(std::move(value))) return false;
    }
    getters_.happened(os::wake_one);
    if constexpr (bounded) putters_.happened(os::wake_one);  // see parts/sleepers.hpp: full may err
    return true;
  }
  bool put(const value_type& value)
    requires std::is_copy_constructible_v<value_type>
  {
    return put(value_type(value));
  }

  // Waits while it is full. False: it is closed, and the value is as it was.
  bool wait_put(value_type&& value) {
    for (patience p; p.more();) {
      if (put(std::move(value))) return true;
    }
    for (visit here(putters_); !closed(); here.sleep(forever)) {
      try {
        if (put(std::move(value))) return true;
      } catch (...) {
        putters_.happened(os::wake_one);  // the room for which it was woken is there still
        throw;
      }
    }
    return false;
  }

  // Nothing: it is empty.
  std::optional<value_type> get() {
    std::optional<value_type> e = got();
    if (!e) return e;
    if constexpr (bounded) putters_.happened(os::wake_one);
    if constexpr (info.empty == emptiness::may_err) getters_.happened(os::wake_one);
    return e;
  }

  // Waits while it is empty. Nothing: it is closed, and all has been got, or is in the hands of who gets it.
  std::optional<value_type> wait_get() { return get_by(forever); }

  // The same, until a time at the latest. Nothing: that time has come, or it is closed and all has been got.
  template <class Duration>
  std::optional<value_type> get_until(std::chrono::time_point<std::chrono::steady_clock, Duration> time) {
    return get_by(deadline_at(time));
  }
  template <class Rep, class Period>
  std::optional<value_type> get_for(std::chrono::duration<Rep, Period> duration) {
    return get_by(deadline_after(duration));
  }

  // From here on nobody puts. Whoever waits hears of it. May be called again.
  void close() noexcept {
    end_.close();
    getters_.happened(os::wake_all);
    putters_.happened(os::wake_all);
  }
  bool closed() const noexcept { return end_.closed(); }

 private:
  static constexpr bool bounded = !C::info.capacity.empty();
  static constexpr deadline forever = deadline::max();

  class visit {
   public:
    explicit visit(sleepers& s) noexcept : at_(s), key_(s.come()) {}
    ~visit() { at_.go(); }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

    // False: the time has come. Whoever comes back looks once more in any case: the wake may have been for it.
    bool sleep(deadline until) noexcept {
      bool in_time = true;
      if (until == forever) os::sleep_on(at_.word(), key_);
      else in_time = os::sleep_on_until(at_.word(), key_, until.time_since_epoch().count());
      key_ = at_.again();
      return in_time;
    }

   private:
    sleepers& at_;
    sleepers::key key_;
  };

  // What is got is never moved from here on: it is inside no more, so if its move threw it would be nowhere. Each function
  // that hands it on has it in the one place where the caller wants it.
  std::optional<value_type> got() {
    try {
      return of_.get();
    } catch (...) {
      getters_.happened(os::wake_one);  // the element is inside again
      throw;
    }
  }
  // get() in the place of nothing. Whether there was something.
  bool get_to(std::optional<value_type>& nothing) {
    std::destroy_at(&nothing);
    try {
      ::new (static_cast<void*>(&nothing)) std::optional<value_type>(get());
    } catch (...) {
      ::new (static_cast<void*>(&nothing)) std::optional<value_type>;
      throw;
    }
    return nothing.has_value();
  }

  std::optional<value_type> get_by(deadline time) {
    std::optional<value_type> e;
    for (patience p; p.more();) {
      if (get_to(e)) return e;
    }
    for (visit here(getters_);;) {
      if (get_to(e)) return e;
      if (closed()) break;
      if (!here.sleep(time)) {
        get_to(e);
        return e;
      }
    }
    end_.settle([time] {
      sched_yield();
      return std::chrono::steady_clock::now() < time;
    });
    get_to(e);
    return e;
  }

  C of_;
  // getters_, putters_ — who waits for an element, for room.
  alignas(false_sharing_range) sleepers getters_;
  alignas(false_sharing_range) sleepers putters_;
  closing end_;
};

}  // namespace polder::ds
