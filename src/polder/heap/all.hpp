#pragma once
// all — the registry of heaps. What stands here is built, tested, measured and offered by name.
//
// An entry is a line: the type, and whether it is a `heap`, which every suite is run under, or a `sheet`, one that differs
// from a heap in a part or two and gets the suites that say so (polder_test … SHEETS). A type's name is the heap's, with
// hyphens for underscores and without a closing _heap.
#include <string_view>

#include <polder/base/type_list.hpp>
#include <polder/heap/lrmalloc/lrmalloc.hpp>
#include <polder/heap/michael/michael.hpp>
#include <polder/heap/polder/polder_heap.hpp>
#include <polder/heap/scalloc/sheets.hpp>
#include <polder/heap/supermalloc/sheets.hpp>

namespace polder::heap {

template <class Host>
using all = type_list<                          //
    polder_heap<Host>,                          // heap
    scalloc_heap<Host>,                         // heap
    scalloc_no_madvise<Host>,                   // sheet
    scalloc_no_virtual_spans<Host>,             // sheet
    scalloc_no_virtual_spans_no_madvise<Host>,  // sheet
    scalloc_no_span_pool<Host>,                 // sheet
    scalloc_reclaim_in_allocation<Host>,        // sheet
    michael_heap<Host>,                         // heap
    michael_lifo<Host>,                         // sheet
    michael_keep<Host>,                         // sheet
    michael_uniprocessor<Host>,                 // sheet
    lrmalloc_heap<Host>,                        // heap
    lrmalloc_radix<Host>,                       // sheet
    lrmalloc_recycle<Host>,                     // sheet
    supermalloc_heap<Host>,                     // heap
    super1<Host>,                               // sheet
    super2<Host>,                               // sheet
    super3<Host>,                               // sheet
    super4<Host>,                               // sheet
    super_socket<Host>,                         // sheet
    super_prefill<Host>                         // sheet
    >;

template <std::string_view const& name, class List>
struct find_by_name;
template <std::string_view const& name, class H, class... Rest>
struct find_by_name<name, type_list<H, Rest...>> {
  static constexpr auto pick() {
    if constexpr (H::info.name == name) return static_cast<H*>(nullptr);
    else return find_by_name<name, type_list<Rest...>>::pick();
  }
};

// The heap that calls itself `name`.
template <std::string_view const& name, class Host>
using named = std::remove_pointer_t<decltype(find_by_name<name, all<Host>>::pick())>;

}  // namespace polder::heap
