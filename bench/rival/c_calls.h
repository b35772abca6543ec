/* c_calls — a collection of a library whose headers are C that C++ does not take: Concurrency Kit, liburcu. */
#ifndef POLDER_BENCH_RIVAL_C_CALLS_H
#define POLDER_BENCH_RIVAL_C_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct c_calls {
  void* (*make)(unsigned capacity); /* null: no memory */
  bool (*put)(void* of, uint64_t element);
  bool (*get)(void* of, uint64_t* element);
  void (*unmake)(void* of);
  void (*enter_thread)(void); /* may be null, as the next */
  void (*leave_thread)(void);
};
extern const struct c_calls c_calls_of_ck_ring, c_calls_of_ck_fifo, c_calls_of_ck_stack;
extern const struct c_calls c_calls_of_urcu_wfc_queue, c_calls_of_urcu_lf_queue, c_calls_of_urcu_lf_stack;

#ifdef __cplusplus
}
#endif
#endif
