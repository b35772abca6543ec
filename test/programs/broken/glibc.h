// What the broken heaps are made of: glibc's own functions, under the names it keeps for them.
#pragma once
#include <stddef.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void __libc_free(void*);
size_t malloc_usable_size(void*);

// Every n-th call of the process, over all threads.
static inline int every(unsigned n) {
  static unsigned calls;
  return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % n == 0;
}
