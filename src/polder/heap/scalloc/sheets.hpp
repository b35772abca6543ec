#pragma once
// sheets — scalloc and the ablations of its section 7: what each of them is.
#include <string_view>

#include <polder/base/bits.hpp>
#include <polder/heap/heap.hpp>
#include <polder/heap/scalloc/front.hpp>

namespace polder::heap {

struct scalloc_sheet {
  static constexpr heap_info info{.name = "scalloc",
                                  .title = "scalloc",
                                  .paper = "Aigner, Kirsch, Lippautz, Sokolova, OOPSLA 2015",
                                  .year = 2015,
                                  .summary =
                                      "Real spans in virtual spans of 2 MiB in one arena, one distributed stack of "
                                      "free spans for all threads, and "
                                      "spans that come back in the free that empties them.",
                                  .progress = "blocking"};

  static constexpr std::string_view lab_words[] = {"thread", "core"};
  static constexpr std::string_view virtual_spans[] = {"2M", "4M", "8M", "16M", "32M", "64M", "128M"};
  static constexpr std::string_view off_on[] = {"off", "on"};
  static constexpr tunable tunables[] = {
      number("reuse", "a percentage of free blocks, 0 to 100", 0, 100, 80),
      bytes("madvise_threshold", "bytes of a real span", 4 * KiB, 4 * MiB, 32 * KiB),
      word("virtual_span", "2M, 4M, 8M, 16M, 32M, 64M or 128M", virtual_spans, 0),
      word("lab", "thread or core", lab_words, 0),
      word("protect", "off or on", off_on, 0),
  };
  using front = scalloc::front<scalloc::variant{}>;
};

// Section 7.7, figure 12: what returning memory costs and saves.
struct scalloc_no_madvise_sheet : scalloc_sheet {
  static constexpr heap_info info{.name = "scalloc-no-madvise",
                                  .title = "scalloc without madvise",
                                  .paper = scalloc_sheet::info.paper,
                                  .year = 2015,
                                  .summary = "Empty spans keep their memory.",
                                  .progress = "blocking",
                                  .sheet_of = "scalloc"};
  using front = scalloc::front<scalloc::variant{.madvise = false}>;
};

// The same figure: huge pages give memory to what a virtual span does not use. The paper switched them on for the whole
// system; here they are asked for the arena.
struct scalloc_no_virtual_spans_sheet : scalloc_sheet {
  static constexpr heap_info info{.name = "scalloc-no-virtual-spans",
                                  .title = "scalloc over huge pages",
                                  .paper = scalloc_sheet::info.paper,
                                  .year = 2015,
                                  .summary = "Virtual spans are backed by huge pages, used or not.",
                                  .progress = "blocking",
                                  .sheet_of = "scalloc"};
  using front = scalloc::front<scalloc::variant{.virtual_spans = false}>;
};
struct scalloc_no_virtual_spans_no_madvise_sheet : scalloc_sheet {
  static constexpr heap_info info{.name = "scalloc-no-virtual-spans-no-madvise",
                                  .title = "scalloc over huge pages, without madvise",
                                  .paper = scalloc_sheet::info.paper,
                                  .year = 2015,
                                  .summary = "Virtual spans are backed by huge pages, and keep them.",
                                  .progress = "blocking",
                                  .sheet_of = "scalloc"};
  using front = scalloc::front<scalloc::variant{.madvise = false, .virtual_spans = false}>;
};

// Section 7.8, figure 13: one stack a real-span size for all cores.
struct scalloc_no_span_pool_sheet : scalloc_sheet {
  static constexpr heap_info info{.name = "scalloc-no-span-pool",
                                  .title = "scalloc with one stack",
                                  .paper = scalloc_sheet::info.paper,
                                  .year = 2015,
                                  .summary = "One stack of free spans for each real-span size, whatever the cores.",
                                  .progress = "blocking",
                                  .sheet_of = "scalloc"};
  using front = scalloc::front<scalloc::variant{.span_pool = false}>;
};

// Section 7.9, figure 14: an empty span goes back in a later allocation of its LAB.
struct scalloc_reclaim_in_allocation_sheet : scalloc_sheet {
  static constexpr heap_info info{.name = "scalloc-reclaim-in-allocation",
                                  .title = "scalloc that reclaims when it allocates",
                                  .paper = scalloc_sheet::info.paper,
                                  .year = 2015,
                                  .summary = "Empty spans go to the pool in the slow path of malloc, as elsewhere.",
                                  .progress = "blocking",
                                  .sheet_of = "scalloc"};
  using front = scalloc::front<scalloc::variant{.when = scalloc::reclaim::in_allocation}>;
};

template <class Host>
using scalloc_heap = heap<scalloc_sheet, Host>;
template <class Host>
using scalloc_no_madvise = heap<scalloc_no_madvise_sheet, Host>;
template <class Host>
using scalloc_no_virtual_spans = heap<scalloc_no_virtual_spans_sheet, Host>;
template <class Host>
using scalloc_no_virtual_spans_no_madvise = heap<scalloc_no_virtual_spans_no_madvise_sheet, Host>;
template <class Host>
using scalloc_no_span_pool = heap<scalloc_no_span_pool_sheet, Host>;
template <class Host>
using scalloc_reclaim_in_allocation = heap<scalloc_reclaim_in_allocation_sheet, Host>;

}  // namespace polder::heap
