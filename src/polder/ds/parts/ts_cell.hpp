#pragma once
// ts_cell — what a time-stamped structure keeps of a thread: its buffer, and what the clock keeps of it.

namespace polder::ds {

template <class Buffer, class Clock>
struct ts_cell {
  using list = Buffer;
  Buffer buffer;
  [[no_unique_address]] typename Clock::beat beat;
};

}  // namespace polder::ds
