#pragma once
// backends — a fixed number of structures side by side, each in lines of its own.
//
// Backend has  kept                                     what an element is inside
//              bool insert(kept&)
//              std::optional<kept> remove(uint64_t&)    nothing: the number of parts/exact_scan.hpp
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>

#include <polder/base/config.hpp>
#include <polder/ds/parts/exact_scan.hpp>

namespace polder::ds {

template <class Backend>
class backends {
 public:
  using kept = typename Backend::kept;

  // Each is made of these arguments. Throws std::invalid_argument, std::bad_alloc, and what a backend's constructor throws.
  template <class... Arguments>
  explicit backends(std::size_t count, Arguments&... arguments) : count_(count), all_(checked(count)) {
    try {
      for (; made_ != count; ++made_) std::construct_at(&all_[made_], arguments...);
    } catch (...) {
      destroy();
      throw;
    }
  }
  backends(const backends&) = delete;
  backends& operator=(const backends&) = delete;
  ~backends() { destroy(); }

  std::size_t size() const noexcept { return count_; }
  Backend& operator[](std::size_t i) noexcept { return all_[i].backend; }

  // From this one, or from the next around that has an element.
  template <class Scan>
  std::optional<kept> remove(std::size_t first) {
    return Scan::over([&](tally& seen) -> std::optional<kept> {
      std::size_t i = first;
      do {
        std::uint64_t number = 0;
        if (std::optional<kept> e = (*this)[i].remove(number)) return e;
        seen.numbers += number;
        i = i + 1 == size() ? 0 : i + 1;
      } while (i != first);
      return std::nullopt;
    });
  }

 private:
  struct alignas(false_sharing_range) padded {
    template <class... Arguments>
    explicit padded(Arguments&... arguments) : backend(arguments...) {}
    Backend backend;
  };

  static padded* checked(std::size_t count) {
    if (count == 0) throw std::invalid_argument("p, the number of backends, is 0: elements must go somewhere");
    return std::allocator<padded>().allocate(count);
  }
  void destroy() noexcept {
    while (made_ != 0) std::destroy_at(&all_[--made_]);
    std::allocator<padded>().deallocate(all_, count_);
  }

  const std::size_t count_;
  padded* const all_;
  std::size_t made_ = 0;  // so far
};

}  // namespace polder::ds
