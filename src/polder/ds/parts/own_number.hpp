#pragma once
// own_number — the calling thread's number while an operation lasts, for a structure that opens no guard.
#include <polder/ds/parts/thread_slot.hpp>

namespace polder::ds {

class own_number {
 public:
  own_number() noexcept : number_(thread_slot::mine()) {}
  own_number(const own_number&) = delete;
  own_number& operator=(const own_number&) = delete;
  ~own_number() {
    if (thread_slot::fleeting()) [[unlikely]]
      thread_slot::give_back();
  }
  operator thread_slot::number() const noexcept { return number_; }

 private:
  const thread_slot::number number_;
};

}  // namespace polder::ds
