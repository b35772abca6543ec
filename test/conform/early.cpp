// A library whose constructor runs before that of a preloaded heap, and its destructor after: it asks the heap at both
// ends. It does nothing unless POLDER_PROBE_EARLY says what, so that one failure here is one cell of the matrix.
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iterator>

#include "../probe/stamp.hpp"

using namespace polder;

namespace {

constexpr std::size_t sizes[] = {16, 100, 1000, 5000, 40'000, 300'000, 3 << 20};
constexpr std::size_t count = std::size(sizes);
void* kept[count];
bool asked_for_blocks, asked_to_linger;

void take() {
  for (std::size_t i = 0; i < count; i++) {
    kept[i] = i % 2 == 0 ? std::malloc(sizes[i]) : std::calloc(1, sizes[i]);
    probe::expect(kept[i] != nullptr, "no block of %zu bytes before main", sizes[i]);
    probe::stamp(kept[i], sizes[i], 1);
    std::free(std::malloc(sizes[i]));
  }
}
void give_back() {
  for (auto*& p : kept) {
    probe::expect_intact(p, "a block from before main");
    std::free(p);
    p = nullptr;
  }
}
void in_fork_handler() {
  for (std::size_t n : sizes) std::free(std::malloc(n));
}

[[gnu::constructor]] void before_main() {
  const char* what = std::getenv("POLDER_PROBE_EARLY");
  if (what == nullptr) return;
  if (std::strcmp(what, "atfork") == 0) ::pthread_atfork(in_fork_handler, in_fork_handler, in_fork_handler);
  asked_for_blocks = std::strcmp(what, "blocks") == 0;
  asked_to_linger = std::strcmp(what, "linger") == 0;
  if (asked_for_blocks) take();
}
[[gnu::destructor]] void after_main() {
  if (asked_to_linger) ::usleep(30'000);  // the heap's own destructor has run, and other threads go on
  if (!asked_for_blocks) return;
  give_back();
  take();
  give_back();
}

}  // namespace

extern "C" int polder_probe_early() { return asked_for_blocks; }
