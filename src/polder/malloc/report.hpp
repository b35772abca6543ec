#pragma once
// report — the heap's statistics as text: for malloc_stats, malloc_info, polder_write_statistics and the option `stats`.
//
//   in malloc  yes, also in a signal handler: 10 KiB on the stack, nothing is allocated. Not the XML, which is of stdio
#include <polder/heap/options.hpp>
#include <polder/heap/statistics.hpp>
#include <polder/os/output.hpp>
#include <polder/os/print.hpp>

namespace polder::face {

using report_text = os::text_buffer<5000>;

// All of it in a format, which is not `off`. 0, or errno of the write that failed.
int write_statistics(int fd, heap::stats_format as) noexcept;

// Each in its format: a line for people for each fact, class and LAB; one JSON object; Prometheus's text exposition.
void write_text(os::output& to) noexcept;
void write_json(os::output& to) noexcept;
void write_prometheus(os::output& to) noexcept;

// An XML document: <polder version="…" heap="…" options="…"> with a <bytes …/> and a <counts …/>.
void write_xml(report_text& to, const heap::statistics& s) noexcept;

// Thousandths, as a decimal fraction: 0.125.
struct thousandths {
  std::size_t part, whole;
};
inline os::output& operator<<(os::output& to, thousandths t) noexcept {
  const std::size_t n = t.whole == 0 ? 0 : std::size_t(static_cast<unsigned __int128>(t.part) * 1000 / t.whole);
  return to << n / 1000 << '.' << n / 100 % 10 << n / 10 % 10 << n % 10;
}

}  // namespace polder::face
