// A heap whose realloc loses one bit of the contents, once in 400 calls.
#include "glibc.h"

void* malloc(size_t size) { return __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return __libc_calloc(count, size); }
void free(void* block) { __libc_free(block); }

void* realloc(void* block, size_t size) {
  size_t had = block ? malloc_usable_size(block) : 0;
  unsigned char* moved = __libc_realloc(block, size);
  size_t kept = had < size ? had : size;
  if (moved && kept >= 64 && every(400)) moved[kept / 2] ^= 4;
  return moved;
}
