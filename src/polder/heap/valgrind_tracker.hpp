#pragma once
// valgrind_tracker — tells valgrind's memcheck of blocks, by client requests: some instructions without effect, unless it is
// valgrind that reads them.
#include <valgrind/memcheck.h>

#include <cstddef>

#include <polder/base/bits.hpp>

namespace polder::heap {

class valgrind_tracker {
 public:
  // memcheck has a table of its own entry for every 64 KiB of address space, used or not.
  static constexpr std::size_t arena_size = 16 * GiB;

  struct quiet {
    quiet() noexcept { VALGRIND_DISABLE_ERROR_REPORTING; }
    ~quiet() { VALGRIND_ENABLE_ERROR_REPORTING; }
    quiet(const quiet&) = delete;
    quiet& operator=(const quiet&) = delete;
  };

  void born(void* p, std::size_t n, std::size_t held, bool zeroed) noexcept {
    static_cast<void>(VALGRIND_MAKE_MEM_NOACCESS(p, held));
    VALGRIND_MALLOCLIKE_BLOCK(p, n, 0, zeroed);
  }
  void shrank(void* p, std::size_t n, std::size_t had, std::size_t) noexcept {
    VALGRIND_RESIZEINPLACE_BLOCK(p, had, n, 0);
  }
  void died(void* p, std::size_t) noexcept { VALGRIND_FREELIKE_BLOCK(p, 0); }
  void resumed(void* p, std::size_t held) noexcept { static_cast<void>(VALGRIND_MAKE_MEM_DEFINED(p, held)); }
};

}  // namespace polder::heap
