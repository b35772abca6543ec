#pragma once
// report — the heap's statistics as text: for malloc_stats, malloc_info and the option `stats`.
#include <polder/heap/statistics.hpp>
#include <polder/os/print.hpp>

namespace polder::face {

using report_text = os::text_buffer<2000>;

// One line for people on standard error for each fact.
void print_statistics() noexcept;

// An XML document: <polder version="…" heap="…" options="…"> with a <bytes …/> and a <counts …/>.
void write_xml(report_text& to, const heap::statistics& s) noexcept;

}  // namespace polder::face
