#pragma once
// countdown — so many operations until something is due, which it then stays until the count is set anew: who is told may
// have to leave the work to the next operation.
//
//   in malloc  yes
namespace polder::smr {

// One thread's at a time.
class countdown {
 public:
  explicit countdown(unsigned operations) noexcept : left_(operations) {}

  // One operation more. Whether it is due.
  [[gnu::always_inline]] bool count() noexcept {
    if (left_ <= 1) [[unlikely]] {
      left_ = 0;
      return true;
    }
    --left_;
    return false;
  }
  [[gnu::always_inline]] bool due() const noexcept { return left_ == 0; }

  // The operation that many from now on is due; 1: the next.
  void set(unsigned operations) noexcept { left_ = operations; }

 private:
  unsigned left_;
};

}  // namespace polder::smr
