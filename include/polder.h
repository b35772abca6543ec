/* polder.h — the C API of Polder's heap, and the only header that bindings use.
 *
 * Blocks of these functions and of malloc are the same blocks when Polder is the process's malloc (linked or
 * preloaded): either kind of free takes either kind of block. All functions may be called from any thread.
 * Sizes are in bytes. Every block is aligned to 16 bytes at least. No function but those that say so sets errno, and
 * none that frees changes it. What may not be freed (a block freed before, a pointer into a block, a pointer of
 * another heap, a wrong size) ends the process with one line on standard error and SIGABRT.
 */
#ifndef POLDER_H
#define POLDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define POLDER_NOEXCEPT noexcept
extern "C" {
#else
#define POLDER_NOEXCEPT
#endif

/* ---- the C library's functions ---------------------------------------------------------------------------------- */

/* A block of at least `size` bytes; of a block of its own also for 0. NULL and errno ENOMEM: there is no memory, or
 * `size` exceeds PTRDIFF_MAX. */
void* polder_malloc(size_t size) POLDER_NOEXCEPT;

/* The same for count * size bytes, all zero. ENOMEM also when the product overflows. */
void* polder_calloc(size_t count, size_t size) POLDER_NOEXCEPT;

/* A block of at least `size` bytes with the contents of `block`, as far as they fit; `block` is freed. NULL for
 * `block`: as polder_malloc. 0 for `size`: frees, returns NULL. NULL and ENOMEM: `block` is as it was. */
void* polder_realloc(void* block, size_t size) POLDER_NOEXCEPT;

/* polder_realloc to count * size bytes. ENOMEM also when the product overflows. */
void* polder_reallocarray(void* block, size_t count, size_t size) POLDER_NOEXCEPT;

/* A block whose address is a multiple of `alignment`, which is rounded up to a power of two. NULL and errno ENOMEM: no
 * memory; EINVAL: an alignment above 2^63. */
void* polder_aligned_alloc(size_t alignment, size_t size) POLDER_NOEXCEPT;

/* As POSIX has it: 0 and the block in *block; EINVAL: `alignment` is not a power of two, or smaller than a pointer;
 * ENOMEM. On error *block is as it was. */
int polder_posix_memalign(void** block, size_t alignment, size_t size) POLDER_NOEXCEPT;

/* Frees a block; nothing for NULL. */
void polder_free(void* block) POLDER_NOEXCEPT;

/* Frees a block of which the size is known: what it was asked for with, or anything from there to
 * polder_usable_size(). Not for aligned blocks. Nothing for NULL. */
void polder_free_sized(void* block, size_t size) POLDER_NOEXCEPT;

/* Frees an aligned block of which alignment and size are known. Nothing for NULL. */
void polder_free_aligned_sized(void* block, size_t alignment, size_t size) POLDER_NOEXCEPT;

/* How many bytes of the block may be used; constant through its life. 0 for NULL. */
size_t polder_usable_size(void* block) POLDER_NOEXCEPT;

/* ---- more than one block, more than was asked for ---------------------------------------------------------------- */

/* `count` blocks of at least `size` bytes each, to be freed in any way. Returns how many were had and stored from
 * blocks[0] on; fewer than `count`: errno is ENOMEM, and those are the caller's. */
size_t polder_malloc_batch(size_t size, size_t count, void** blocks) POLDER_NOEXCEPT;

/* Frees `count` blocks of any sizes and origins, faster than one by one: the thread's buffer is entered once, and
 * other threads' blocks go home in lists. NULL among them is skipped. The array is the caller's, its contents are undefined afterwards. */
void polder_free_batch(void** blocks, size_t count) POLDER_NOEXCEPT;

struct polder_allocation {
  void* ptr;   /* NULL and errno ENOMEM: there is no memory */
  size_t size; /* bytes that may be used, not fewer than were asked for */
};

/* A block and all of its room. polder_free_sized takes any size from the one asked for to the one returned. */
struct polder_allocation polder_allocate_at_least(size_t size) POLDER_NOEXCEPT;

/* 1: the address lies in memory that this heap manages, which does not say that it is a block. 0: it does not. */
int polder_owns(const void* address) POLDER_NOEXCEPT;

/* ---- the heap as a whole ----------------------------------------------------------------------------------------- */

/* Gives all free memory back to the system. `keep` is malloc_trim's argument and is not looked at: spans that hold a
 * block stay, and nothing else would be worth keeping. Returns the bytes given back. */
size_t polder_trim(size_t keep) POLDER_NOEXCEPT;

/* All in bytes unless they are counts. allocated <= active <= resident <= mapped <= reserved. Later versions add
 * members at the end. */
struct polder_statistics {
  size_t size;           /* in: sizeof(struct polder_statistics); out: how much of it was filled */
  size_t allocated;      /* in blocks that the program holds */
  size_t active;         /* in spans and runs with at least one such block */
  size_t resident;       /* active, cached and metadata: all that was not given back to the system */
  size_t mapped;         /* address space that can be read and written */
  size_t reserved;       /* address space taken, accessible or not */
  size_t metadata;       /* the heap's own tables */
  size_t cached;         /* free, kept for the next allocation until it decays */
  size_t large;          /* part of `active` in blocks beyond the size classes */
  size_t peak;           /* highest `resident` seen */
  uint64_t threads;      /* count: threads that hold a local allocation buffer */
  uint64_t labs;         /* count: local allocation buffers made */
  uint64_t spans;        /* count: spans in use */
  uint64_t refills;      /* count: times a thread went for a new span */
  uint64_t remote_frees; /* count: blocks freed by another thread than their owner */
  uint64_t posts;        /* count: lists in which such blocks went home, where a heap sends them in lists */
  size_t
      committed; /* memory had of the system and not given back, touched or not: what counts against the next two.
                            0: this heap does not count it */
  size_t limit;  /* the cap in force; 0: none */
  size_t target; /* the target in force; 0: none */
  size_t
      waiting; /* part of `active` in blocks that were freed and are on the way back to their spans, in threads' boxes, or
                  held back where the heap is hardened. 0 where a heap has no such way, or counts them as allocated */
  size_t free_not_returned; /* cached, and what of `active` is not allocated: free but not returned to the system */
};

/* 0: *into is filled as far as into->size says. EINVAL: into is NULL or into->size is too small to be one. */
int polder_read_statistics(struct polder_statistics* into) POLDER_NOEXCEPT;

enum polder_format {
  POLDER_FORMAT_TEXT,      /* lines for people */
  POLDER_FORMAT_JSON,      /* one JSON object, in ASCII */
  POLDER_FORMAT_PROMETHEUS /* Prometheus's text format, version 0.0.4 */
};

/* Writes to `fd` all that the heap says about itself: version, options, the members of polder_statistics, and where the heap tells
 * of them (only "polder" does) its size classes and local allocation buffers. Names say their unit, _bytes or a count. 0; EINVAL:
 * `format` is none of enum polder_format, and nothing is written; or errno of the write that failed, of what came before it some
 * may have been written. A write that a signal interrupts, or that takes a part, goes on; to a pipe without a reader it
 * raises SIGPIPE as write does. May be called in a signal handler: nothing is allocated and errno is as it was. Takes 10 KiB of
 * the stack. */
int polder_write_statistics(int fd, int format) POLDER_NOEXCEPT;

/* ---- how much the heap may hold ---------------------------------------------------------------------------------- */

/* Counted is what `committed` tells: whole spans and blocks beyond the size classes, in use or kept, and tables. Whatever else
 * the process has, code, stacks, its own mappings, is not. All of these return 0, ENOTSUP where the heap has no limits (only
 * "polder" has), or ENOMEM. */

/* A hard cap, from now on; 0: none. Where more would be needed the heap first gives back all that is free, also in other
 * threads' buffers; then who watches the cap is asked; then the allocation fails, with NULL and ENOMEM or as `new` does. What is
 * held already stays, even above a cap set lower. Threads that are allocating as it is set may not have seen it yet. */
int polder_set_limit(size_t bytes) POLDER_NOEXCEPT;

/* A target: above it the heap keeps nothing spare. What is free goes back before more is taken, and what is freed goes back in
 * the free; allocation goes on. 0: seven eighths of the memory limit of the container the process was started in, if it has
 * one and the option cgroup is not 0; otherwise none. */
int polder_set_target(size_t bytes) POLDER_NOEXCEPT;

/* Who is asked when `wanted` bytes, about, cannot be had under the cap, after all that is free was given back: 1 to have it
 * tried again, which makes sense when something was freed, 0 to let the allocation fail. And who is told on each crossing of
 * the target upwards. One each; NULL: nobody. They are called on the thread that allocates, by several at once where several do,
 * and may allocate and free, but must return; a thread is not called from within a callback. Each registration costs a small
 * block for good. */
int polder_on_limit(int (*called)(size_t wanted, void* data), void* data) POLDER_NOEXCEPT;
int polder_on_target(void (*called)(size_t committed, void* data), void* data) POLDER_NOEXCEPT;

/* ---- who holds the memory ------------------------------------------------------------------------------------------ */

/* A sample of all blocks, with the stacks that asked for them. Each byte that is allocated is drawn with the same chance, one in
 * `mean`, and a block is a sample if one of its bytes is: so what is large or frequent is seen, and the rest costs nothing. Blocks
 * that were allocated while it is off are no part of it. Of "polder"; other heaps answer ENOTSUP. All of these may be called from
 * any thread, and in a signal handler too; but the first start there may wait for a dlopen that it interrupted. */

/* On. `mean`: bytes from one sample to the next, on average; 0: as the option profile_rate says, 512 KiB. Returns 0; ENOMEM; or
 * EBUSY: there are samples of this process already, drawn with another mean, and both cannot be counted together. */
int polder_profile_start(size_t mean) POLDER_NOEXCEPT;

/* Off. Samples that live still are followed to their free, and can be written. Returns 0. */
int polder_profile_stop(void) POLDER_NOEXCEPT;

enum polder_profile {
  POLDER_PROFILE_BLOCKS, /* what lives, and what was allocated, by stacks */
  POLDER_PROFILE_WASTE /* free memory that cannot be used because of a block that lives beside it, by the block's stack */
};

/* Writes it as pprof and `./polder profile` read it ("heap_v2"; of waste, which is estimated already, "heapprofile"). `what`: enum
 * polder_profile. Returns 0; errno of the write; EINVAL: there is no such kind; ENODATA: it was never on. */
int polder_profile_write(int fd, int what) POLDER_NOEXCEPT;

/* ---- what it found ------------------------------------------------------------------------------------------------ */

enum polder_background {
  POLDER_BACKGROUND_OFF,    /* by option */
  POLDER_BACKGROUND_WAITS,  /* for several threads that allocate and for something to give back */
  POLDER_BACKGROUND_RUNS,   /* at this moment */
  POLDER_BACKGROUND_REFUSED /* by the system: memory goes back while somebody allocates, or by polder_trim */
};

enum polder_huge_pages {
  POLDER_HUGE_PAGES_OFF,    /* asked for nowhere */
  POLDER_HUGE_PAGES_SYSTEM, /* left to the system */
  POLDER_HUGE_PAGES_ON,     /* asked for everywhere */
  POLDER_HUGE_PAGES_LARGE,  /* asked for where the heap is large and dense */
  POLDER_HUGE_PAGES_REFUSED /* asked for, and the kernel has none */
};

/* In which modes the heap works, as found and as of now. Later versions add members at the end. */
struct polder_modes {
  size_t size;      /* in: sizeof(struct polder_modes); out: how much of it was filled */
  size_t page_size; /* bytes that it works with */
  size_t
      cgroup_limit; /* bytes: the memory limit of the container that was found at start; 0: none, or not looked for */
  int membarrier;   /* 1: idle threads' buffers can be emptied by others. 0: the kernel refuses, and they wait */
  int background;   /* enum polder_background: the thread that gives memory back where all others sleep */
  int background_error; /* errno of the refusal, 0 without one */
  int huge_pages;       /* enum polder_huge_pages */
};

/* 0: *into is filled as far as into->size says. EINVAL: as with polder_read_statistics. ENOTSUP: the heap does not tell. */
int polder_read_modes(struct polder_modes* into) POLDER_NOEXCEPT;

/* The effective options, as POLDER_OPTIONS would take them, as a string cut to `size` bytes with its end. Returns its
 * whole length without the end, as snprintf does; a `size` of 0 asks for that alone. */
size_t polder_options(char* buffer, size_t size) POLDER_NOEXCEPT;

/* The heap's name in the catalogue, such as "polder". Not to be freed. */
const char* polder_heap(void) POLDER_NOEXCEPT;

/* The library's version, such as "0.1.0". Not to be freed. */
const char* polder_version(void) POLDER_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#undef POLDER_NOEXCEPT

#endif /* POLDER_H */
