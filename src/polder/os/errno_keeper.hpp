#pragma once
// errno_keeper — free() must leave errno alone; so does whatever it calls.
#include <cerrno>

namespace polder::os {

class errno_keeper {
 public:
  errno_keeper() noexcept : kept_(errno) {}
  ~errno_keeper() { errno = kept_; }
  errno_keeper(const errno_keeper&) = delete;
  errno_keeper& operator=(const errno_keeper&) = delete;

 private:
  int kept_;
};

}  // namespace polder::os
