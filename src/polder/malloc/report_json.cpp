// report_json — the statistics as one JSON object (RFC 8259).
//
//   {"version": …, "heap": …, "options": …, "bytes": {…}, "counts": {…}, "classes": [{…}, …], "labs": [{…}, …]}
//
// Without the last two where a heap does not tell of them. It is of ASCII: a byte of the options beyond that, as a file's name
// may have, is told as the character of its number.
#include <polder/heap/options_text.hpp>
#include <polder/malloc/account.hpp>
#include <polder/malloc/facts.hpp>
#include <polder/malloc/instance.hpp>
#include <polder/malloc/report.hpp>

namespace polder::face {
namespace {

void write_string(os::output& to, std::string_view s) {
  constexpr std::string_view digits = "0123456789abcdef";
  to << '"';
  for (const char c : s) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') to << '\\' << c;
    else if (code < 0x20 || code >= 0x7f) to << "\\u00" << digits[code >> 4] << digits[code & 0xf];
    else to << c;
  }
  to << '"';
}

// Members of one object.
class members {
 public:
  explicit members(os::output& to) noexcept : to_(to) { to_ << '{'; }
  ~members() { to_ << '}'; }
  members(const members&) = delete;
  members& operator=(const members&) = delete;

  os::output& next(std::string_view name) noexcept {
    to_ << (first_ ? "" : ", ") << '"' << name << "\": ";
    first_ = false;
    return to_;
  }
  void tell(const auto& facts, const auto& of, std::string_view ending = {}) noexcept {
    for (const auto& f : facts) {
      to_ << (first_ ? "" : ", ") << '"' << f.name << ending << "\": " << of.*f.of;
      first_ = false;
    }
  }

 private:
  os::output& to_;
  bool first_ = true;
};

// An array of objects, one a line: each(f) calls f for every element, write(members, element) fills its object.
void write_array(os::output& to, auto each, auto write) {
  to << '[';
  bool first = true;
  each([&](const auto& element) {
    to << (first ? "\n  " : ",\n  ");
    first = false;
    members m(to);
    write(m, element);
  });
  to << ']';
}

}  // namespace

void write_json(os::output& to) noexcept {
  account told(instance);
  {
    os::line_text options;
    write_options(options, instance.effective_options(), own_options);
    to << "{\"version\": ";
    write_string(to, POLDER_VERSION);
    to << ", \"heap\": ";
    write_string(to, chosen_heap);
    to << ",\n \"options\": ";
    write_string(to, options.text());
  }
  to << ",\n \"bytes\": ";
  members(to).tell(byte_facts, told.all());
  to << ",\n \"counts\": ";
  members(to).tell(count_facts, told.all());
  if constexpr (decltype(told)::has_parts) {
    to << ",\n \"classes\": ";
    write_array(
        to, [&](auto f) { told.for_each_class(f); },
        [&](members& m, const heap::class_statistics& c) {
          m.next("block_size") << c.block_size;
          m.tell(class_counts, c);
          m.tell(class_bytes, c, "_bytes");
          m.next(fragmentation) << thousandths{c.unallocated, c.active};
        });
    to << ",\n \"labs\": ";
    write_array(
        to, [&](auto f) { told.for_each_lab(f); },
        [&](members& m, const heap::lab_statistics& l) {
          m.next("lab") << l.number;
          m.tell(lab_counts, l);
          m.tell(lab_bytes, l, "_bytes");
        });
  }
  to << "}\n";
}

}  // namespace polder::face
