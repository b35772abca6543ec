#include <unistd.h>

#include <polder/heap/options_text.hpp>
#include <polder/malloc/account.hpp>
#include <polder/malloc/facts.hpp>
#include <polder/malloc/instance.hpp>
#include <polder/malloc/report.hpp>

namespace polder::face {
namespace {

void write_element(report_text& to, std::string_view name, const auto& facts, const heap::statistics& s) {
  to << "  <" << name;
  for (const auto& f : facts) to << ' ' << f.name << "=\"" << s.*f.of << '"';
  to << "/>\n";
}

// As the value of an attribute, where the text is anything at all.
void write_attribute(report_text& to, std::string_view text) noexcept {
  for (const char c : text) switch (c) {
      case '&': to << "&amp;"; break;
      case '<': to << "&lt;"; break;
      case '"': to << "&quot;"; break;
      default: to << (c >= ' ' && c <= '~' ? c : '?');
    }
}

// What is told of a class or a LAB, in one line.
class parts_of_a_line {
 public:
  explicit parts_of_a_line(os::output& to) noexcept : to_(to) {}
  ~parts_of_a_line() { to_ << '\n'; }
  parts_of_a_line(const parts_of_a_line&) = delete;
  parts_of_a_line& operator=(const parts_of_a_line&) = delete;

  os::output& next(std::string_view name) noexcept {
    to_ << (first_ ? " " : ", ") << name << ' ';
    first_ = false;
    return to_;
  }
  void tell(const auto& facts, const auto& of, std::string_view unit = {}) noexcept {
    for (const auto& f : facts) next(f.name) << of.*f.of << unit;
  }

 private:
  os::output& to_;
  bool first_ = true;
};

}  // namespace

void write_text(os::output& to) noexcept {
  account told(instance);
  const heap::statistics& s = told.all();
  to << "polder: " POLDER_VERSION ", heap " << chosen_heap << '\n';
  for (const auto& f : byte_facts) to << "polder: " << f.name << ' ' << s.*f.of << " bytes " << f.meaning << '\n';
  for (const auto& f : count_facts) to << "polder: " << f.name << ' ' << s.*f.of << ' ' << f.meaning << '\n';
  told.for_each_class([&](const heap::class_statistics& c) {
    to << "polder: class of " << c.block_size << " bytes:";
    parts_of_a_line line(to);
    line.tell(class_counts, c);
    line.tell(class_bytes, c, " bytes");
    line.next(fragmentation) << thousandths{c.unallocated, c.active};
  });
  told.for_each_lab([&](const heap::lab_statistics& l) {
    to << "polder: lab " << l.number << ':';
    parts_of_a_line line(to);
    line.tell(lab_counts, l);
    line.tell(lab_bytes, l, " bytes");
  });
}

int write_statistics(int fd, heap::stats_format as) noexcept {
  os::output to(fd);
  switch (as) {
    case heap::stats_format::off: break;
    case heap::stats_format::text: write_text(to); break;
    case heap::stats_format::json: write_json(to); break;
    case heap::stats_format::prometheus: write_prometheus(to); break;
  }
  return to.finish();
}

void write_xml(report_text& to, const heap::statistics& s) noexcept {
  os::line_text options;
  write_options(options, instance.effective_options(), own_options);
  to << "<polder version=\"" POLDER_VERSION "\" heap=\"" << chosen_heap << "\" options=\"";
  write_attribute(to, options.text());
  to << "\">\n";
  write_element(to, "bytes", byte_facts, s);
  write_element(to, "counts", count_facts, s);
  to << "</polder>\n";
}

}  // namespace polder::face
