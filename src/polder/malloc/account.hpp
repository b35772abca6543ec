#pragma once
// account — what a heap says about itself at one moment, as far as it says it: the totals, and where it has them its size classes
// and LABs.
//
//   in malloc  yes: 5 KiB on the stack
#include <array>
#include <cstdint>
#include <span>

#include <polder/heap/statistics.hpp>

namespace polder::face {

template <class Heap>
concept tells_of_parts = requires { Heap::size_classes; };

template <class Heap>
class account {
 public:
  explicit account(const Heap& of) noexcept : of_(of) {
    if constexpr (tells_of_parts<Heap>) all_ = of.read_statistics(classes_.data());
    else all_ = of.read_statistics();
  }

  static constexpr bool has_parts = tells_of_parts<Heap>;

  const heap::statistics& all() const noexcept { return all_; }

  // f(class) for each that has a span, from the same look at the heap as all().
  template <class F>
  void for_each_class(F f) const {
    for (const heap::class_statistics& c : classes_)
      if (c.spans != 0) f(c);
  }

  // f(lab) for each that has been made. Where they are more than a page, each page is another look.
  template <class F>
  void for_each_lab(F f) {
    if constexpr (has_parts) {
      for (std::uint32_t first = 1;; first += page) {
        if (read_from_ != first) {
          read_ = of_.read_labs(first, labs_);
          read_from_ = first;
        }
        for (std::uint32_t i = 0; i != read_; ++i) f(labs_[i]);
        if (read_ != page) return;
      }
    }
  }

 private:
  static constexpr std::uint32_t page = 16;
  static constexpr std::size_t classes = [] {
    if constexpr (tells_of_parts<Heap>) return std::size_t{Heap::size_classes};
    else return std::size_t{0};
  }();

  const Heap& of_;
  heap::statistics all_;
  std::array<heap::class_statistics, classes> classes_;
  std::array<heap::lab_statistics, page> labs_;
  std::uint32_t read_from_ = 0, read_ = 0;
};

}  // namespace polder::face
