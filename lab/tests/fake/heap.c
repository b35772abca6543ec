/* A heap for the tests of the laboratory: glibc's own under another name, with one fault or habit chosen by -D. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef NO_MALLOC
void* __libc_malloc(size_t);
void __libc_free(void*);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);

static long calls;

static void habit(void) {
  ++calls;
#ifdef CRASHES
  if (calls == 50) abort();
#endif
#ifdef HANGS
  while (calls == 50) pause();
#endif
#ifdef SLOW
  if (calls % 50 == 0) usleep(5000); /* so slow that no load of the machine can hide it */
#endif
}

void* malloc(size_t n) {
  habit();
  return __libc_malloc(n);
}
void free(void* p) { __libc_free(p); }
void* calloc(size_t n, size_t m) {
  habit();
  return __libc_calloc(n, m);
}
void* realloc(void* p, size_t n) {
  habit();
  return __libc_realloc(p, n);
}
size_t malloc_usable_size(void* p) { /* from glibc's own header before the block */
  size_t head = p ? ((size_t*)p)[-1] : 8;
  return (head & ~(size_t)7) - (head & 2 ? 16 : 8);
}
#endif

__attribute__((constructor)) static void begin(void) {
#ifdef FAT
  char* ballast = __libc_malloc(64 << 20);
  memset(ballast, 1, 64 << 20);
#endif
#ifdef TELLS
  char exe[4096];
  ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
  int log = open(getenv("TELL_TO"), O_WRONLY | O_APPEND | O_CREAT, 0644);
  exe[n] = '\n';
  if (write(log, exe, (size_t)n + 1) < 0) abort();
  close(log);
#endif
}

__attribute__((destructor)) static void end(void) {
#ifdef LATER /* the fourth program and those after it crash, when all is printed */
  int starts = open(getenv("TELL_TO"), O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (write(starts, "x", 1) < 0 || lseek(starts, 0, SEEK_END) >= 4) abort();
#endif
#ifdef CHATTY
  if (write(1, "heap\n", 5) < 0) abort();
#endif
}
