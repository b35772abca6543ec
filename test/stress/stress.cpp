// Random work on the program's malloc, by threads some of which are born and die.
//   stress [threads] [seconds] [seed]
#include <malloc.h>

#include "crowd.hpp"

using namespace polder;

namespace {

struct of_the_program {
  static void* malloc(std::size_t n) { return std::malloc(n); }
  static void* calloc(std::size_t n) { return std::calloc(1, n); }
  // By the one call or the other, as the size happens to be.
  static void* aligned(std::size_t alignment, std::size_t n) {
    void* p = nullptr;
    if (n % 2 == 0) return ::memalign(alignment, n);
    return ::posix_memalign(&p, alignment, n) == 0 ? p : nullptr;
  }
  static void* realloc(void* p, std::size_t n) { return std::realloc(p, n); }
  static void free(void* p) { std::free(p); }
  static std::size_t usable(void* p) { return ::malloc_usable_size(p); }
  static void trim() { ::malloc_trim(0); }
  static void thread_ends() {}
};

}  // namespace

int main(int argc, char** argv) {
  const auto [threads, seconds, seed] = stress::read_arguments(argc, argv, 2);
  probe::say("%d threads, %.0f seconds, seed %lu", threads, seconds, seed);
  static stress::crowd<of_the_program> crowd({}, seed);
  crowd.live(threads, seconds);
  crowd.clear();
  probe::say("%ld steps, %ld KiB resident at the end", crowd.steps(), probe::resident_kib());
}
