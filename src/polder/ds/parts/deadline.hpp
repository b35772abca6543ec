#pragma once
// deadline — when a wait ends, by the steady clock; a time beyond what nanoseconds can count is deadline::max(): never.
#include <chrono>

namespace polder::ds {

using deadline = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

// Compared as floating seconds, which hold every duration, before it is converted: that may overflow, and so may a comparison
// in the finer of two units. Converted in two parts, for the same reason: a count of ticks, a few hundred millions a second,
// times a thousand millions is more than there is room for after some seconds. No number: the time has come.
template <class Rep, class Period>
constexpr std::chrono::nanoseconds saturated(std::chrono::duration<Rep, Period> duration) {
  using seconds = std::chrono::duration<double>;
  using std::chrono::nanoseconds;
  constexpr seconds most(9e9);  // 285 years, seven less than there are nanoseconds for
  if (seconds(duration) >= most) return nanoseconds::max();
  if (!(seconds(duration) > -most)) return nanoseconds::min();
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(
      duration);  // towards 0: in the finer unit there is room for it
  return whole + std::chrono::ceil<nanoseconds>(duration - whole);
}

template <class Duration>
constexpr deadline deadline_at(std::chrono::time_point<std::chrono::steady_clock, Duration> time) {
  return deadline(saturated(time.time_since_epoch()));
}

template <class Rep, class Period>
deadline deadline_after(std::chrono::duration<Rep, Period> duration) {
  const deadline now = deadline_at(std::chrono::steady_clock::now());
  const std::chrono::nanoseconds wait = saturated(duration);
  return wait > deadline::max() - now ? deadline::max() : now + wait;
}

}  // namespace polder::ds
