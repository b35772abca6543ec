#pragma once
// all — the registry of structures. What stands here is built, tested, measured and offered by name.
//
// An entry is a line: the type, and what it is. A structure that needs regions is passed over where the reclaimer does not
// protect them, one without read phases where it restarts readers (ds/tree/map_info.hpp: suits).
//
// A map is a template of key, value and reclaimer; a queue, stack, deque or pool one of element, reclaimer and memory.
#include <polder/base/type_list.hpp>
#include <polder/ds/queue/bounded_kfifo.hpp>
#include <polder/ds/queue/lcrq.hpp>
#include <polder/ds/queue/ll_unbounded_kfifo.hpp>
#include <polder/ds/queue/ms_queue.hpp>
#include <polder/ds/queue/random_dequeue_queue.hpp>
#include <polder/ds/queue/segment_queue.hpp>
#include <polder/ds/queue/unbounded_kfifo.hpp>
#include <polder/ds/stack/k_stack.hpp>
#include <polder/ds/stack/ll_k_stack.hpp>
#include <polder/ds/stack/treiber_stack.hpp>
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
using collections = type_list<      //
    ms_queue<T, R, M>,              // queue
    lcrq<T, R, M>,                  // queue
    segment_queue<T, R, M>,         // queue
    random_dequeue_queue<T, R, M>,  // queue
    bounded_kfifo<T, R, M>,         // queue
    unbounded_kfifo<T, R, M>,       // queue
    ll_unbounded_kfifo<T, R, M>,    // queue
    treiber_stack<T, R, M>,         // stack
    k_stack<T, R, M>,               // stack
    ll_k_stack<T, R, M>             // stack
    >;

}  // namespace polder::ds
