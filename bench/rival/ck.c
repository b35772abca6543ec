/* Concurrency Kit: a bounded ring; a queue and a stack whose nodes are the caller's to reclaim. CK gives back no node that
 * another may still read, so here none is freed: its own hazard pointers would make another structure of it. */
#include "c_calls.h"

#include <ck_fifo.h>
#include <ck_ring.h>
#include <ck_stack.h>
#include <stdlib.h>

struct ring {
  ck_ring_t ring;
  ck_ring_buffer_t* cells;
};

static void* make_ring(unsigned capacity) {
  struct ring* of =
      aligned_alloc(CK_MD_CACHELINE, (sizeof *of + CK_MD_CACHELINE - 1) / CK_MD_CACHELINE * CK_MD_CACHELINE);
  if (of == NULL) return NULL;
  of->cells = calloc(capacity, sizeof *of->cells);
  if (of->cells == NULL) {
    free(of);
    return NULL;
  }
  ck_ring_init(&of->ring, capacity);
  return of;
}
static bool put_ring(void* of, uint64_t element) {
  struct ring* r = of;
  return ck_ring_enqueue_mpmc(&r->ring, r->cells, (void*)(uintptr_t)element);
}
static bool get_ring(void* of, uint64_t* element) {
  struct ring* r = of;
  void* p = NULL;
  if (!ck_ring_dequeue_mpmc(&r->ring, r->cells, &p)) return false;
  *element = (uintptr_t)p;
  return true;
}
static void unmake_ring(void* of) {
  free(((struct ring*)of)->cells);
  free(of);
}

static void* make_fifo(unsigned capacity) {
  (void)capacity;
  ck_fifo_mpmc_t* of = aligned_alloc(64, (sizeof *of + 63) / 64 * 64);
  ck_fifo_mpmc_entry_t* stub = aligned_alloc(16, sizeof *stub);
  if (of == NULL || stub == NULL) return NULL;
  ck_fifo_mpmc_init(of, stub);
  return of;
}
static bool put_fifo(void* of, uint64_t element) {
  ck_fifo_mpmc_entry_t* entry = aligned_alloc(16, sizeof *entry);
  if (entry == NULL) return false;
  ck_fifo_mpmc_enqueue(of, entry, (void*)(uintptr_t)element);
  return true;
}
static bool get_fifo(void* of, uint64_t* element) {
  void* p = NULL;
  ck_fifo_mpmc_entry_t* garbage = NULL;
  if (!ck_fifo_mpmc_dequeue(of, &p, &garbage)) return false;
  *element = (uintptr_t)p;
  return true;
}

struct node {
  ck_stack_entry_t entry; /* first */
  uint64_t element;
};

static void* make_stack(unsigned capacity) {
  (void)capacity;
  ck_stack_t* of = aligned_alloc(64, (sizeof *of + 63) / 64 * 64);
  if (of != NULL) ck_stack_init(of);
  return of;
}
static bool put_stack(void* of, uint64_t element) {
  struct node* n = malloc(sizeof *n);
  if (n == NULL) return false;
  n->element = element;
  ck_stack_push_mpmc(of, &n->entry);
  return true;
}
static bool get_stack(void* of, uint64_t* element) {
  ck_stack_entry_t* at = ck_stack_pop_mpmc(of);
  if (at == NULL) return false;
  *element = ((struct node*)at)->element;
  return true;
}

const struct c_calls c_calls_of_ck_ring = {make_ring, put_ring, get_ring, unmake_ring, NULL, NULL};
const struct c_calls c_calls_of_ck_fifo = {make_fifo, put_fifo, get_fifo, free, NULL, NULL};
const struct c_calls c_calls_of_ck_stack = {make_stack, put_stack, get_stack, free, NULL, NULL};
