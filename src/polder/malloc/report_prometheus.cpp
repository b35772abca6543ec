// report_prometheus — the statistics in Prometheus's text format, version 0.0.4: for each metric HELP, TYPE and its samples.
//
//   polder_allocated_bytes{heap="polder"} 4096
//   polder_class_spans{heap="polder",class="48"} 2
//   polder_lab_inbox_bytes{heap="polder",lab="1"} 0
//
// A class without spans has no sample.
#include <polder/heap/options_text.hpp>
#include <polder/malloc/account.hpp>
#include <polder/malloc/facts.hpp>
#include <polder/malloc/instance.hpp>
#include <polder/malloc/report.hpp>

namespace polder::face {
namespace {

// A label's value is UTF-8, which a file's name among the options need not be: of it only ASCII is shown.
void write_label(os::output& to, std::string_view name, std::string_view value) {
  to << name << "=\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') to << '\\' << c;
    else to << (c >= 0x20 && c < 0x7f ? c : '?');
  }
  to << '"';
}

// One metric: its two lines, and then samples, for each a label of its own or none.
class metric {
 public:
  metric(os::output& to, std::string_view of, std::string_view name, std::string_view unit,
         bool only_grows) noexcept
      : to_(to), of_(of), name_(name), unit_(unit), only_grows_(only_grows) {}

  void describe(std::string_view what, std::string_view meaning) noexcept {
    write_name("# HELP ");
    to_ << ' ' << what << ' ' << meaning << '\n';
    write_name("# TYPE ");
    to_ << (only_grows_ ? " counter\n" : " gauge\n");
  }

  // What follows is the value, and the end of the line.
  os::output& sample() noexcept {
    write_name("");
    return to_ << "{heap=\"" << chosen_heap << "\"} ";
  }
  os::output& sample(std::string_view label, std::size_t of) noexcept {
    write_name("");
    return to_ << "{heap=\"" << chosen_heap << "\"," << label << "=\"" << of << "\"} ";
  }

 private:
  void write_name(std::string_view before) noexcept {
    to_ << before << "polder_" << of_ << name_ << unit_ << (only_grows_ ? "_total" : "");
  }

  os::output& to_;
  const std::string_view of_, name_, unit_;
  const bool only_grows_;
};

// Each fact of a table as a metric: samples(metric, fact) writes its samples.
void write_facts(os::output& to, std::string_view of, const auto& facts, std::string_view unit, auto samples) {
  for (const auto& f : facts) {
    metric m(to, of, f.name, unit, f.only_grows);
    m.describe(unit.empty() ? f.name : "bytes", f.meaning);
    samples(m, f);
  }
}

}  // namespace

void write_prometheus(os::output& to) noexcept {
  account told(instance);
  to << "# HELP polder_info The library, and the options in force.\n# TYPE polder_info gauge\npolder_info{";
  {
    os::line_text options;
    write_options(options, instance.effective_options(), own_options);
    write_label(to, "heap", chosen_heap);
    write_label(to, ",version", POLDER_VERSION);
    write_label(to, ",options", options.text());
  }
  to << "} 1\n";
  const auto of_heap = [&](metric& m, const auto& f) { m.sample() << told.all().*f.of << '\n'; };
  write_facts(to, "", byte_facts, "_bytes", of_heap);
  write_facts(to, "", count_facts, "", of_heap);
  if constexpr (decltype(told)::has_parts) {
    const auto of_classes = [&](metric& m, const auto& f) {
      told.for_each_class(
          [&](const heap::class_statistics& c) { m.sample("class", c.block_size) << c.*f.of << '\n'; });
    };
    write_facts(to, "class_", class_counts, "", of_classes);
    write_facts(to, "class_", class_bytes, "_bytes", of_classes);
    metric ratio(to, "class_", fragmentation, "_ratio", false);
    ratio.describe("part", fragmentation_means);
    told.for_each_class([&](const heap::class_statistics& c) {
      ratio.sample("class", c.block_size) << thousandths{c.unallocated, c.active} << '\n';
    });
    const auto of_labs = [&](metric& m, const auto& f) {
      told.for_each_lab([&](const heap::lab_statistics& l) { m.sample("lab", l.number) << l.*f.of << '\n'; });
    };
    write_facts(to, "lab_", lab_counts, "", of_labs);
    write_facts(to, "lab_", lab_bytes, "_bytes", of_labs);
  }
}

}  // namespace polder::face
