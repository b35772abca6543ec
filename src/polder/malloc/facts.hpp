#pragma once
// facts — what a report tells, in every format: names and their meaning. Names are those of polder.h where it has them.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <polder/heap/statistics.hpp>

namespace polder::face {

template <class Of, class Number>
struct fact {
  std::string_view name;
  Number Of::*of;
  std::string_view meaning;  // after the number
  bool only_grows = false;
};
using bytes_of_heap = fact<heap::statistics, std::size_t>;
using count_of_heap = fact<heap::statistics, std::uint64_t>;
using bytes_of_class = fact<heap::class_statistics, std::size_t>;
using count_of_class = fact<heap::class_statistics, std::uint64_t>;
using bytes_of_lab = fact<heap::lab_statistics, std::size_t>;
using count_of_lab = fact<heap::lab_statistics, std::uint64_t>;

inline constexpr bytes_of_heap byte_facts[] = {
    {"allocated", &heap::statistics::allocated, "in blocks that the program holds"},
    {"active", &heap::statistics::active, "in spans with such blocks"},
    {"resident", &heap::statistics::resident, "not given back to the system"},
    {"peak", &heap::statistics::peak, "resident at most so far"},
    {"mapped", &heap::statistics::mapped, "of address space that can be used"},
    {"reserved", &heap::statistics::reserved, "of address space taken"},
    {"free_not_returned", &heap::statistics::free_not_returned,
     "free but not returned: cached, and in active spans"},
    {"cached", &heap::statistics::cached, "free, kept for the next allocation"},
    {"waiting", &heap::statistics::waiting, "freed, and on the way back to their spans"},
    {"large", &heap::statistics::large, "of the active in large blocks"},
    {"metadata", &heap::statistics::metadata, "in the heap's own tables"},
    {"committed", &heap::statistics::committed, "that count against limit and target"},
    {"limit", &heap::statistics::limit, "at most, 0 for no limit"},
    {"target", &heap::statistics::target, "above which nothing spare is kept, 0 for none"},
};

inline constexpr count_of_heap count_facts[] = {
    {"threads", &heap::statistics::threads, "that hold a LAB"},
    {"labs", &heap::statistics::labs, "made"},
    {"spans", &heap::statistics::spans, "in use"},
    {"refills", &heap::statistics::refills, "of a LAB", true},
    {"remote_frees", &heap::statistics::remote_frees, "of another LAB's block", true},
    {"posts", &heap::statistics::posts, "of such blocks in lists", true},
};

inline constexpr count_of_class class_counts[] = {
    {"spans", &heap::class_statistics::spans, "of the class"},
    {"blocks_allocated", &heap::class_statistics::allocated, "that the program holds"},
    {"blocks_waiting", &heap::class_statistics::waiting, "that are on the way back to their spans"},
    {"blocks_free", &heap::class_statistics::free, "in spans of the class"},
};
inline constexpr bytes_of_class class_bytes[] = {
    {"unallocated", &heap::class_statistics::unallocated, "of the class's spans, active but not allocated"},
};
// And unallocated / active: 0 where every byte of the spans is in use.
inline constexpr std::string_view fragmentation = "fragmentation";
inline constexpr std::string_view fragmentation_means =
    "of the class's spans, in bytes, that is active but not allocated";

inline constexpr count_of_lab lab_counts[] = {
    {"thread", &heap::lab_statistics::thread, "whose it is, as the kernel numbers it, 0 for none or one not known"},
    {"spans", &heap::lab_statistics::spans, "owned"},
    {"refills", &heap::lab_statistics::refills, "of it", true},
    {"remote_frees", &heap::lab_statistics::remote_frees, "in it, of another LAB's block", true},
    {"posts", &heap::lab_statistics::posts, "from it, of such blocks in lists", true},
};
inline constexpr bytes_of_lab lab_bytes[] = {
    {"used", &heap::lab_statistics::used, "of its spans in blocks, allocated or waiting"},
    {"free", &heap::lab_statistics::free, "of its spans that are in no such block"},
    {"outbox", &heap::lab_statistics::outbox, "of others' blocks that wait to be sent"},
    {"inbox", &heap::lab_statistics::inbox, "of its blocks that wait to be put back"},
};

}  // namespace polder::face
