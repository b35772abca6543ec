// A heap that gives one block to two owners, once in 2000 calls. It never frees such blocks, so only their contents suffer.
#include "glibc.h"

enum { size_shared = 96, remembered = 8 };
static void* last_given[remembered];
static unsigned given;

static int is_shared(const void* block) {
  for (int i = 0; i < remembered; ++i)
    if (__atomic_load_n(&last_given[i], __ATOMIC_RELAXED) == block) return 1;
  return 0;
}

void* malloc(size_t size) {
  if (size == 0 || size > size_shared) return __libc_malloc(size);
  if (every(2000)) {
    unsigned number = __atomic_fetch_add(&given, 1, __ATOMIC_RELAXED);
    if (number < remembered) {
      void* block = __libc_malloc(size_shared);
      __atomic_store_n(&last_given[number], block, __ATOMIC_RELAXED);
      return block;
    }
    return __atomic_load_n(&last_given[number % remembered], __ATOMIC_RELAXED);
  }
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) { return __libc_calloc(count, size); }

void* realloc(void* block, size_t size) {
  if (!block || !is_shared(block)) return __libc_realloc(block, size);
  unsigned char* moved = __libc_malloc(size);
  for (size_t i = 0; moved && i < size && i < size_shared; ++i) moved[i] = ((unsigned char*)block)[i];
  return moved;
}

void free(void* block) {
  if (block && !is_shared(block)) __libc_free(block);
}
