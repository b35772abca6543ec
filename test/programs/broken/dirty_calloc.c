// A heap that takes memory for zero which is not, once in 100 calls.
#include <string.h>

#include "glibc.h"

void* malloc(size_t size) { return __libc_malloc(size); }
void* realloc(void* block, size_t size) { return __libc_realloc(block, size); }
void free(void* block) { __libc_free(block); }

void* calloc(size_t count, size_t size) {
  unsigned char* block = __libc_calloc(count, size);
  if (block && count * size >= 48 && every(100)) memset(block + 16, 0xa5, 16);
  return block;
}
