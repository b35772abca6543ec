#pragma once
// all — the registry of structures. What stands here is built, tested, measured and offered by name.
//
// An entry is a line: the type, and what it is. A structure that needs regions is passed over where the reclaimer does not
// protect them, one without read phases where it restarts readers (ds/suits.hpp).
//
// A map is a template of key, value and reclaimer; a queue, stack, deque or pool one of element, reclaimer and memory.
#include <polder/base/type_list.hpp>
#include <polder/ds/deque/ts_deque.hpp>
#include <polder/ds/pool/bag.hpp>
#include <polder/ds/pool/random_distributed.hpp>
#include <polder/ds/pool/rendezvousing.hpp>
#include <polder/ds/pool/round_robin_distributed.hpp>
#include <polder/ds/queue/bounded_kfifo.hpp>
#include <polder/ds/queue/cts_queue.hpp>
#include <polder/ds/queue/faa_queue.hpp>
#include <polder/ds/queue/flat_combining_queue.hpp>
#include <polder/ds/queue/kogan_petrank_queue.hpp>
#include <polder/ds/queue/lcrq.hpp>
#include <polder/ds/queue/ll_dq.hpp>
#include <polder/ds/queue/ll_unbounded_kfifo.hpp>
#include <polder/ds/queue/lock_based_queue.hpp>
#include <polder/ds/queue/lru_dq.hpp>
#include <polder/ds/queue/mpsc_list.hpp>
#include <polder/ds/queue/ms_queue.hpp>
#include <polder/ds/queue/per_producer_queue.hpp>
#include <polder/ds/queue/random_dequeue_queue.hpp>
#include <polder/ds/queue/rts_queue.hpp>
#include <polder/ds/queue/scq_ring.hpp>
#include <polder/ds/queue/segment_queue.hpp>
#include <polder/ds/queue/spsc_ring.hpp>
#include <polder/ds/queue/ts_queue.hpp>
#include <polder/ds/queue/unbounded_kfifo.hpp>
#include <polder/ds/queue/vyukov_ring.hpp>
#include <polder/ds/queue/wcq_ring.hpp>
#include <polder/ds/stack/elimination_backoff_stack.hpp>
#include <polder/ds/stack/flat_combining_stack.hpp>
#include <polder/ds/stack/k_stack.hpp>
#include <polder/ds/stack/ll_ds.hpp>
#include <polder/ds/stack/ll_k_stack.hpp>
#include <polder/ds/stack/lock_based_stack.hpp>
#include <polder/ds/stack/lru_ds.hpp>
#include <polder/ds/stack/treiber_stack.hpp>
#include <polder/ds/stack/ts_stack.hpp>
#include <polder/ds/tree/abtree.hpp>
#include <polder/ds/tree/ellen_bst.hpp>
#include <polder/ds/tree/hash_map.hpp>
#include <polder/ds/tree/list_set.hpp>
#include <polder/ds/tree/occ_avl.hpp>
#include <polder/ds/tree/skip_list.hpp>
#include <polder/ds/tree/split_ordered_map.hpp>

namespace polder::ds {

template <class K, class V, class R>
using maps = type_list<          //
    list_set<K, V, R>,           // ordered map
    hash_map<K, V, R>,           // map
    split_ordered_map<K, V, R>,  // map
    abtree<K, V, R>,             // ordered map
    ellen_bst<K, V, R>,          // ordered map
    skip_list<K, V, R>,          // ordered map
    occ_avl<K, V, R>             // ordered map
    >;

template <class T, class R, class M>
using collections = type_list<           //
    lock_based_queue<T, R, M>,           // queue
    ms_queue<T, R, M>,                   // queue
    flat_combining_queue<T, R, M>,       // queue
    lock_based_stack<T, R, M>,           // stack
    treiber_stack<T, R, M>,              // stack
    flat_combining_stack<T, R, M>,       // stack
    elimination_backoff_stack<T, R, M>,  // stack
    lru_dq<T, R, M>,                     // queue
    ll_dq<T, R, M>,                      // queue
    ll_dq_nonlinempty<T, R, M>,          // queue
    ll_dyn_dq<T, R, M>,                  // queue
    ll_dyn_dq_nonlinempty<T, R, M>,      // queue
    lru_ds<T, R, M>,                     // stack
    ll_ds<T, R, M>,                      // stack
    ll_ds_nonlinempty<T, R, M>,          // stack
    ll_dyn_ds<T, R, M>,                  // stack
    ll_dyn_ds_nonlinempty<T, R, M>,      // stack
    dq_1random<T, R, M>,                 // pool
    dq_2random<T, R, M>,                 // pool
    ds_1random<T, R, M>,                 // pool
    ds_2random<T, R, M>,                 // pool
    dq_1rr<T, R, M>,                     // pool
    ds_1rr<T, R, M>,                     // pool
    kogan_petrank_queue<T, R, M>,        // queue
    ts_queue_atomic<T, R, M>,            // queue
    ts_queue_cas<T, R, M>,               // queue
    ts_queue_hardware<T, R, M>,          // queue
    ts_queue_interval<T, R, M>,          // queue
    ts_queue_stutter<T, R, M>,           // queue
    cts_queue<T, R, M>,                  // queue
    rts_queue<T, R, M>,                  // queue
    ts_stack_atomic<T, R, M>,            // stack
    ts_stack_cas<T, R, M>,               // stack
    ts_stack_hardware<T, R, M>,          // stack
    ts_stack_interval<T, R, M>,          // stack
    ts_stack_stutter<T, R, M>,           // stack
    ts_deque_atomic<T, R, M>,            // deque
    ts_deque_cas<T, R, M>,               // deque
    ts_deque_hardware<T, R, M>,          // deque
    ts_deque_interval<T, R, M>,          // deque
    ts_deque_stutter<T, R, M>,           // deque
    vyukov_ring<T, R, M>,                // queue
    spsc_ring<T, R, M>,                  // queue
    mpsc_list<T, R, M>,                  // queue
    faa_queue<T, R, M>,                  // queue
    scq_ring<T, R, M>,                   // queue
    wcq_ring<T, R, M>,                   // queue
    per_producer_queue<T, R, M>,         // queue
    bag<T, R, M>,                        // pool
    rendezvousing<T, R, M>,              // pool
    lcrq<T, R, M>,                       // queue
    segment_queue<T, R, M>,              // queue
    random_dequeue_queue<T, R, M>,       // queue
    bounded_kfifo<T, R, M>,              // queue
    unbounded_kfifo<T, R, M>,            // queue
    ll_unbounded_kfifo<T, R, M>,         // queue
    k_stack<T, R, M>,                    // stack
    ll_k_stack<T, R, M>                  // stack
    >;

}  // namespace polder::ds
