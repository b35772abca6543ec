// A heap that gives a block out again before the call that gave it back returns: the worst that can happen to the order of
// a recording. Blocks of 7777 bytes only; all others are the C library's.
#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>

extern "C" void* __libc_malloc(std::size_t size);
extern "C" void __libc_free(void* block);
extern "C" void* __libc_realloc(void* block, std::size_t size);

namespace {

constexpr std::size_t handed = 7777;
std::atomic<void*> offered{nullptr};
std::atomic<int> asked{0};
std::atomic<int> given{0};
char memory[handed];

// The first call of each pair gets the block as it is, the second one waits for it.
void* take() {
  if (asked.fetch_add(1) % 2 == 0) return memory;
  void* block = nullptr;
  while ((block = offered.exchange(nullptr)) == nullptr) usleep(100);
  return block;
}

// The first life ends here, and the second one is well under way when this returns.
void give() {
  if (given.fetch_add(1) % 2 != 0) return;
  offered = memory;
  while (offered.load() != nullptr) usleep(100);
  usleep(20'000);
}

}  // namespace

extern "C" {
void* malloc(std::size_t size) { return size == handed ? take() : __libc_malloc(size); }
void free(void* block) {
  if (block == memory) give();
  else __libc_free(block);
}
void* realloc(void* block, std::size_t size) {
  if (block != memory) return __libc_realloc(block, size);
  give();
  return __libc_malloc(size);
}
}
