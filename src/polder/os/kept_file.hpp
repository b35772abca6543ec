#pragma once
// kept_file — a file that the process was started with, standard error say, to be written at its end: the program may have closed the
// descriptor by then, or opened a file of its own under that number.
//
//   in malloc  yes: raw calls, nothing is allocated
#include <cstdint>

namespace polder::os {

class kept_file {
 public:
  // Keeps a copy, which programs that are started do not inherit.
  void keep(int descriptor) noexcept;
  // A descriptor of that file: the copy, or the first one where the program has closed the copy. -1: there is none.
  int found() const noexcept;

 private:
  struct identity {
    std::uint64_t device = 0, number = 0;
    bool operator==(const identity&) const = default;
  };
  static bool identify(int descriptor, identity& into) noexcept;
  bool is_it(int descriptor) const noexcept;

  identity file_;
  int first_ = -1, copy_ = -1;
};

}  // namespace polder::os
