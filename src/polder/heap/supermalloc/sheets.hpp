#pragma once
// sheets — SuperMalloc, the thesis's four variants of it, and the two that it proposes and did not measure.
//
//   paper      Kuszmaul 2015; Kim 2023, section 4.3
//
//                    lists     growth              spill                levels
//     supermalloc    short     one at a time       to its page          processors          super0 in the thesis
//     super1         short     half the cache      to its page          processors
//     super2         short     half the cache      half the cache back  processors
//     super3         equal     one at a time       to its page          processors
//     super4         equal     half the cache      to its page          processors
//     super_socket   equal     half the cache      half the cache back  sockets             all of section 4.2
//     super_prefill  equal     1, 2, 4, 8 …        half the cache back  sockets             and what 4.3 asks for
#include <polder/heap/heap.hpp>
#include <polder/heap/supermalloc/super_front.hpp>

namespace polder::heap {
namespace supermalloc {

template <class Lists>
inline constexpr tunable options_with[] = {
    bytes("thread_list", "bytes of blocks in each of a thread's two lists of a class, to 64M", 16, 64 * MiB,
          Lists::thread_bytes),
    bytes("list", "bytes of blocks in each list of the other caches, to 64M", 4 * KiB, 64 * MiB, MiB),
    number("global_lists", "lists in the global cache of a class, 1 to 4096, or 0: one a processor", 0, 4096, 0),
};

template <class Lists, class Growth, class Spill, class Levels>
struct sheet {
  static constexpr const auto& tunables = options_with<Lists>;
  using front = super_front<Lists, Growth, Spill, Levels>;
};

inline constexpr std::string_view kuszmaul = "Kuszmaul, SuperMalloc: a super fast multithreaded malloc, ISMM";
inline constexpr std::string_view kim = "Kim, NUMA effects on memory allocation and reclamation, Waterloo";

}  // namespace supermalloc

struct supermalloc_sheet : supermalloc::sheet<supermalloc::short_lists, supermalloc::one_at_a_time,
                                              supermalloc::to_its_page, supermalloc::processors<>> {
  static constexpr heap_info info{.name = "supermalloc",
                                  .title = "SuperMalloc (super0)",
                                  .paper = supermalloc::kuszmaul,
                                  .year = 2015,
                                  .summary =
                                      "Lists of free blocks in caches of threads, processors and all; chunks of 2 "
                                      "MiB in a table, cut into folios, "
                                      "the fullest used first.",
                                  .progress = "blocking"};
};

struct super1_sheet : supermalloc::sheet<supermalloc::short_lists, supermalloc::half_the_cache,
                                         supermalloc::to_its_page, supermalloc::processors<>> {
  static constexpr heap_info info{
      .name = "super1",
      .title = "SuperMalloc, bumping in bulk",
      .paper = supermalloc::kim,
      .year = 2023,
      .summary = "SuperMalloc whose global cache is filled to its half when it is empty.",
      .progress = "blocking",
      .sheet_of = "supermalloc"};
};

struct super2_sheet : supermalloc::sheet<supermalloc::short_lists, supermalloc::half_the_cache,
                                         supermalloc::half_the_cache_back, supermalloc::processors<>> {
  static constexpr heap_info info{.name = "super2",
                                  .title = "SuperMalloc, bumping and freeing in bulk",
                                  .paper = supermalloc::kim,
                                  .year = 2023,
                                  .summary = "super1 whose global cache is emptied to its half when it is full.",
                                  .progress = "blocking",
                                  .sheet_of = "supermalloc"};
};

struct super3_sheet : supermalloc::sheet<supermalloc::equal_lists, supermalloc::one_at_a_time,
                                         supermalloc::to_its_page, supermalloc::processors<>> {
  static constexpr heap_info info{.name = "super3",
                                  .title = "SuperMalloc with lists of one length",
                                  .paper = supermalloc::kim,
                                  .year = 2023,
                                  .summary = "SuperMalloc whose threads have lists of 1 MiB too: lists move whole.",
                                  .progress = "blocking",
                                  .sheet_of = "supermalloc"};
};

struct super4_sheet : supermalloc::sheet<supermalloc::equal_lists, supermalloc::half_the_cache,
                                         supermalloc::to_its_page, supermalloc::processors<>> {
  static constexpr heap_info info{.name = "super4",
                                  .title = "SuperMalloc, lists of one length, bumping in bulk",
                                  .paper = supermalloc::kim,
                                  .year = 2023,
                                  .summary = "super1 and super3 together.",
                                  .progress = "blocking",
                                  .sheet_of = "supermalloc"};
};

struct super_socket_sheet : supermalloc::sheet<supermalloc::equal_lists, supermalloc::half_the_cache,
                                               supermalloc::half_the_cache_back, supermalloc::sockets<>> {
  static constexpr heap_info info{.name = "super-socket",
                                  .title = "SuperMalloc with a cache for each socket",
                                  .paper = supermalloc::kim,
                                  .year = 2023,
                                  .summary =
                                      "The thesis's whole redesign: super4 and super2, a cache for each socket, "
                                      "memory on the node that uses it.",
                                  .progress = "blocking",
                                  .sheet_of = "supermalloc"};
};

struct super_prefill_sheet : supermalloc::sheet<supermalloc::equal_lists, supermalloc::doubling,
                                                supermalloc::half_the_cache_back, supermalloc::sockets<>> {
  static constexpr heap_info info{
      .name = "super-prefill",
      .title = "SuperMalloc with a cache for each socket, filled little by little",
      .paper = supermalloc::kim,
      .year = 2023,
      .summary = "super-socket whose empty global cache gets 1, 2, 4, 8 … blocks instead of half of what it holds.",
      .progress = "blocking",
      .sheet_of = "supermalloc"};
};

template <class Host>
using supermalloc_heap = heap<supermalloc_sheet, Host>;
template <class Host>
using super1 = heap<super1_sheet, Host>;
template <class Host>
using super2 = heap<super2_sheet, Host>;
template <class Host>
using super3 = heap<super3_sheet, Host>;
template <class Host>
using super4 = heap<super4_sheet, Host>;
template <class Host>
using super_socket = heap<super_socket_sheet, Host>;
template <class Host>
using super_prefill = heap<super_prefill_sheet, Host>;

}  // namespace polder::heap
