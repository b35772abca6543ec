#include <polder/heap/options_text.hpp>
#include <polder/malloc/instance.hpp>
#include <polder/malloc/report.hpp>

namespace polder::face {
namespace {

template <class Number>
struct fact {
  std::string_view name;
  Number heap::statistics::*of;
  std::string_view meaning;
};

constexpr fact<std::size_t> byte_facts[] = {
    {"allocated", &heap::statistics::allocated, "in blocks that the program holds"},
    {"active", &heap::statistics::active, "in spans with such blocks"},
    {"resident", &heap::statistics::resident, "not given back to the system"},
    {"peak", &heap::statistics::peak, "resident at most so far"},
    {"mapped", &heap::statistics::mapped, "of address space that can be used"},
    {"reserved", &heap::statistics::reserved, "of address space taken"},
    {"cached", &heap::statistics::cached, "free, kept for the next allocation"},
    {"large", &heap::statistics::large, "of the active in large blocks"},
    {"metadata", &heap::statistics::metadata, "in the heap's own tables"},
    {"committed", &heap::statistics::committed, "that count against limit and target"},
    {"limit", &heap::statistics::limit, "at most, 0 for no limit"},
    {"target", &heap::statistics::target, "above which nothing spare is kept, 0 for none"},
};

constexpr fact<std::uint64_t> count_facts[] = {
    {"threads", &heap::statistics::threads, "that hold a LAB"},
    {"labs", &heap::statistics::labs, "made"},
    {"spans", &heap::statistics::spans, "in use"},
    {"refills", &heap::statistics::refills, "of a LAB"},
    {"remote_frees", &heap::statistics::remote_frees, "of another LAB's block"},
    {"posts", &heap::statistics::posts, "of such blocks in lists"},
};

void write_element(report_text& to, std::string_view name, const auto& facts, const heap::statistics& s) {
  to << "  <" << name;
  for (const auto& f : facts) to << ' ' << f.name << "=\"" << s.*f.of << '"';
  to << "/>\n";
}

}  // namespace

void print_statistics() noexcept {
  const heap::statistics s = instance.read_statistics();
  os::line() << "polder: " POLDER_VERSION ", heap " << chosen_heap;
  for (const auto& f : byte_facts) os::line() << "polder: " << f.name << ' ' << s.*f.of << " bytes " << f.meaning;
  for (const auto& f : count_facts) os::line() << "polder: " << f.name << ' ' << s.*f.of << ' ' << f.meaning;
}

void write_xml(report_text& to, const heap::statistics& s) noexcept {
  os::line_text options;
  write_options(options, instance.effective_options(), own_options);
  to << "<polder version=\"" POLDER_VERSION "\" heap=\"" << chosen_heap << "\" options=\"" << options.text()
     << "\">\n";
  write_element(to, "bytes", byte_facts, s);
  write_element(to, "counts", count_facts, s);
  to << "</polder>\n";
}

}  // namespace polder::face
