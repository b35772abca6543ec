#pragma once
// churn — threads that allocate and free blocks of all sizes, each within a bound of its own, and write to all of them.
#include <malloc.h>
#include <pthread.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "../probe/expect.hpp"
#include "../probe/random.hpp"

namespace polder::memory_test {

class churner {
 public:
  std::uint32_t seed = 1;
  std::size_t bound = 0;  // bytes it may hold
  long rounds = 0;        // allocations
  long refused = 0;       // of them
  std::size_t held = 0;
  bool whole = false;  // writes to all of a block's room

  void run() {
    probe::random r{seed};
    for (long i = 0; i != rounds; ++i) {
      while (held > bound || count_ == most) drop(r.below(count_));
      const std::size_t n = some_size(r);
      errno = 0;
      void* const p = std::malloc(n);
      if (p == nullptr) {
        probe::expect(errno == ENOMEM, "NULL with errno %d", errno);
        ++refused;
        for (std::size_t left = count_ / 2; count_ > left;) drop(r.below(count_));
        continue;
      }
      std::memset(p, int(n), whole ? ::malloc_usable_size(p) : n);
      kept_[count_] = {static_cast<unsigned char*>(p), n};
      ++count_;
      held += n;
    }
  }
  void empty() {
    while (count_ != 0) drop(count_ - 1);
  }

 private:
  static constexpr std::size_t most = 1 << 15;

  static std::size_t some_size(probe::random& r) {
    const auto kind = r.below(1000);
    return kind < 800 ? 16 + r.below(2'000) : kind < 990 ? 2'000 + r.below(60'000) : 60'000 + r.below(3 << 20);
  }
  void drop(std::size_t i) {
    probe::expect(kept_[i].p[0] == static_cast<unsigned char>(kept_[i].n) &&
                      kept_[i].p[kept_[i].n - 1] == static_cast<unsigned char>(kept_[i].n),
                  "a block is not as it was written");
    std::free(kept_[i].p);
    held -= kept_[i].n;
    kept_[i] = kept_[--count_];
  }

  struct kept {
    unsigned char* p;
    std::size_t n;
  } kept_[most];
  std::size_t count_ = 0;
};

}  // namespace polder::memory_test
