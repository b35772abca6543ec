#pragma once
// retired_by_itself — what the standard's two base classes of retired objects share: the deleter travels in the object.
#include <utility>

#include <polder/smr/kind.hpp>

namespace polder::smr {

template <class T, class D>
class retired_by_itself {
 protected:
  retired_by_itself() = default;
  retired_by_itself(const retired_by_itself&) = default;
  retired_by_itself(retired_by_itself&&) = default;
  retired_by_itself& operator=(const retired_by_itself&) = default;
  retired_by_itself& operator=(retired_by_itself&&) = default;
  ~retired_by_itself() = default;

  // What a domain is told of *this, which is a T.
  retired_object with(D deleter) noexcept {
    deleter_ = std::move(deleter);
    return {static_cast<T*>(this), &of};
  }

 private:
  static void reclaim(void* p) noexcept {
    T* const object = static_cast<T*>(p);
    D deleter = std::move(static_cast<retired_by_itself*>(object)->deleter_);
    deleter(object);
  }
  static constexpr std::size_t bytes() noexcept { return sizeof(T); }
  static std::size_t weigh(const void*) noexcept { return bytes(); }
  // Its size is not known yet where the class is a base.
  static constexpr kind of = {0, weigh, nullptr, reclaim, false};

  [[no_unique_address]] D deleter_;
};

}  // namespace polder::smr
