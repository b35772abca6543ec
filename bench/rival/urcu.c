/* The user-space RCU library under its QSBR. wfcqueue: a producer never waits, consumers take turns under a lock;
 * lfstack: pops take turns; rculfqueue: lock-free at both ends, each node is freed by call_rcu. */
#define _LGPL_SOURCE
#include <urcu/urcu-qsbr.h>
/* The flavour comes first. */
#include <stddef.h>
#include <stdlib.h>
#include <urcu/lfstack.h>
#include <urcu/rculfqueue.h>
#include <urcu/wfcqueue.h>

#include "c_calls.h"

static void* room(size_t bytes) { return aligned_alloc(128, (bytes + 127) / 128 * 128); }

struct wfc_queue {
  struct cds_wfcq_head head;
  _Alignas(128) struct cds_wfcq_tail tail;
};
struct wfc_node {
  struct cds_wfcq_node link; /* first */
  uint64_t element;
};
static void* make_wfc(unsigned capacity) {
  (void)capacity;
  struct wfc_queue* of = room(sizeof *of);
  if (of != NULL) cds_wfcq_init(&of->head, &of->tail);
  return of;
}
static bool put_wfc(void* of, uint64_t element) {
  struct wfc_queue* q = of;
  struct wfc_node* n = malloc(sizeof *n);
  if (n == NULL) return false;
  cds_wfcq_node_init(&n->link);
  n->element = element;
  cds_wfcq_enqueue(&q->head, &q->tail, &n->link);
  return true;
}
static bool get_wfc(void* of, uint64_t* element) {
  struct wfc_queue* q = of;
  struct wfc_node* n = (struct wfc_node*)cds_wfcq_dequeue_blocking(&q->head, &q->tail);
  if (n == NULL) return false;
  *element = n->element;
  free(n);
  return true;
}
static void unmake_wfc(void* of) {
  struct wfc_queue* q = of;
  cds_wfcq_destroy(&q->head, &q->tail);
  free(q);
}

struct lfs_node {
  struct cds_lfs_node link; /* first */
  uint64_t element;
};
static void* make_lfs(unsigned capacity) {
  (void)capacity;
  struct cds_lfs_stack* of = room(sizeof *of);
  if (of != NULL) cds_lfs_init(of);
  return of;
}
static bool put_lfs(void* of, uint64_t element) {
  struct lfs_node* n = malloc(sizeof *n);
  if (n == NULL) return false;
  cds_lfs_node_init(&n->link);
  n->element = element;
  cds_lfs_push((struct cds_lfs_stack*)of, &n->link);
  return true;
}
static bool get_lfs(void* of, uint64_t* element) {
  struct lfs_node* n = (struct lfs_node*)cds_lfs_pop_blocking((struct cds_lfs_stack*)of);
  if (n == NULL) return false;
  *element = n->element;
  free(n);
  return true;
}
static void unmake_lfs(void* of) {
  cds_lfs_destroy(of);
  free(of);
}

struct lfq_node {
  struct cds_lfq_node_rcu link; /* first */
  uint64_t element;
  struct rcu_head later;
};
static void free_lfq(struct rcu_head* later) { free((char*)later - offsetof(struct lfq_node, later)); }
static void* make_lfq(unsigned capacity) {
  (void)capacity;
  struct cds_lfq_queue_rcu* of = room(sizeof *of);
  if (of != NULL) cds_lfq_init_rcu(of, urcu_qsbr_call_rcu);
  return of;
}
static void pass(void) {
  static _Thread_local unsigned calls;
  if (++calls % 64 == 0) urcu_qsbr_quiescent_state();
}
static bool put_lfq(void* of, uint64_t element) {
  struct lfq_node* n = malloc(sizeof *n);
  if (n == NULL) return false;
  cds_lfq_node_init_rcu(&n->link);
  n->element = element;
  cds_lfq_enqueue_rcu(of, &n->link);
  pass();
  return true;
}
static bool get_lfq(void* of, uint64_t* element) {
  struct lfq_node* n = (struct lfq_node*)cds_lfq_dequeue_rcu(of);
  if (n != NULL) {
    *element = n->element;
    urcu_qsbr_call_rcu(&n->later, free_lfq);
  }
  pass();
  return n != NULL;
}
static void unmake_lfq(void* of) {
  cds_lfq_destroy_rcu(of);
  free(of);
}
static void enter(void) { urcu_qsbr_register_thread(); }
static void leave(void) { urcu_qsbr_unregister_thread(); }

const struct c_calls c_calls_of_urcu_wfc_queue = {make_wfc, put_wfc, get_wfc, unmake_wfc, NULL, NULL};
const struct c_calls c_calls_of_urcu_lf_stack = {make_lfs, put_lfs, get_lfs, unmake_lfs, NULL, NULL};
const struct c_calls c_calls_of_urcu_lf_queue = {make_lfq, put_lfq, get_lfq, unmake_lfq, enter, leave};
