// A heap that hands out half of what was asked for, once in 500 calls.
#include "glibc.h"

void* malloc(size_t size) { return __libc_malloc(size >= 256 && every(500) ? size / 2 : size); }
void* calloc(size_t count, size_t size) { return __libc_calloc(count, size); }
void* realloc(void* block, size_t size) { return __libc_realloc(block, size); }
void free(void* block) { __libc_free(block); }
