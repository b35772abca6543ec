#pragma once
// all — the registry of structures. What stands here is built, tested, measured and offered by name.
//
// An entry is a line: the type, and what it is. A structure that needs regions is passed over where the reclaimer does not
// protect them, one without read phases where it restarts readers (ds/tree/map_info.hpp: suits).
//
// A map is a template of key, value and reclaimer; a queue, stack, deque or pool one of element, reclaimer and memory.
#include <polder/base/type_list.hpp>
#include <polder/ds/queue/faa_queue.hpp>
#include <polder/ds/queue/mpsc_list.hpp>
#include <polder/ds/queue/ms_queue.hpp>
#include <polder/ds/queue/per_producer_queue.hpp>
#include <polder/ds/queue/scq_ring.hpp>
#include <polder/ds/queue/spsc_ring.hpp>
#include <polder/ds/queue/vyukov_ring.hpp>
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
using collections = type_list<    //
    ms_queue<T, R, M>,            // queue
    vyukov_ring<T, R, M>,         // queue
    spsc_ring<T, R, M>,           // queue
    mpsc_list<T, R, M>,           // queue
    faa_queue<T, R, M>,           // queue
    scq_ring<T, R, M>,            // queue
    per_producer_queue<T, R, M>,  // queue
    treiber_stack<T, R, M>        // stack
    >;

}  // namespace polder::ds
