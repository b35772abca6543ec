#include <algorithm>
#include <charconv>
#include <limits>

#include <polder/base/bits.hpp>
#include <polder/heap/options_text.hpp>

namespace polder::heap {
namespace {

using text = std::string_view;
using out = os::line_text;

bool read_number(text value, std::uint64_t& into) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), into);
  return error == std::errc{} && end == value.data() + value.size() && !value.empty();
}

bool read_size(text value, std::size_t& into) {
  if (value.empty()) return false;
  unsigned shift = 0;
  switch (value.back() | 0x20) {  // to lower case
    case 'k': shift = 10; break;
    case 'm': shift = 20; break;
    case 'g': shift = 30; break;
    case 't': shift = 40; break;
    default: break;
  }
  if (shift != 0) value.remove_suffix(1);
  std::uint64_t n = 0;
  if (!read_number(value, n) || n > (std::numeric_limits<std::size_t>::max() >> shift)) return false;
  into = std::size_t(n) << shift;
  return true;
}

void write_size(out& to, std::size_t n) {
  constexpr text suffixes[] = {"", "K", "M", "G", "T"};
  unsigned unit = 0;
  while (n != 0 && n % 1024 == 0 && unit < 4) n /= 1024, ++unit;
  to << n << suffixes[unit];
}

bool read_switch(text value, bool& into) {
  if (value != "0" && value != "1") return false;
  into = value == "1";
  return true;
}

template <class E, std::size_t n>
bool read_word(text value, const text (&words)[n], E& into) {
  const auto found = std::find(words, words + n, value);
  if (found == words + n) return false;
  into = E(found - words);
  return true;
}

constexpr text release_words[] = {"dontneed", "free"};            // as release_policy counts
constexpr text thp_words[] = {"off", "madvise", "on", "large"};   // as thp_policy counts
constexpr text numa_words[] = {"off", "on"};                      // as numa_policy counts
constexpr text stats_words[] = {"0", "1", "json", "prometheus"};  // as stats_format counts
constexpr text size_form = "a number of bytes, K, M, G or T";
constexpr text switch_form = "0 or 1";

bool read_page_size(text value, options& o) {
  std::size_t n = 0;
  if (!read_size(value, n) || (n != 0 && (!is_power_of_two(n) || n < 4 * KiB || n > MiB))) return false;
  o.page_size = n;
  return true;
}

bool read_decay(text value, options& o) {
  std::uint64_t n = 0;
  if (!read_number(value, n) || n > std::numeric_limits<std::uint32_t>::max()) return false;
  o.decay_ms = std::uint32_t(n);
  return true;
}

bool read_events(text value, options& o) {
  std::uint64_t n = 0;
  if (!read_number(value, n) || n < 1 || n > 100'000'000) return false;
  o.timeline_events = std::uint32_t(n);
  return true;
}

bool read_guard_rate(text value, options& o) {
  std::uint64_t n = 0;
  if (!read_number(value, n) || n > 1'000'000'000) return false;
  o.guard_rate = std::uint32_t(n);
  return true;
}

bool read_profile_rate(text value, options& o) {
  std::size_t n = 0;
  if (!read_size(value, n) || n == 0 || n > 1024 * GiB) return false;
  o.profile_rate = n;
  return true;
}

bool read_signal(text value, options& o) {
  std::uint64_t n = 0;
  if (!read_number(value, n) || n > 64) return false;
  o.profile_signal = std::uint32_t(n);
  return true;
}

bool read_file(text value, std::array<char, longest_file + 1>& into) {
  if (value.size() > longest_file) return false;
  into = {};
  value.copy(into.data(), value.size());
  return true;
}

// string_view::substr may throw, and nothing in here can.
text first(text s, std::size_t n) { return {s.data(), std::min(n, s.size())}; }

text without_first(text s, std::size_t n) {
  s.remove_prefix(std::min(n, s.size()));
  return s;
}

text trimmed(text s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

// What to go by when a user errs: the case of letters does not count, and a key may be cut short.
unsigned distance(text key, text name) {
  return std::min(edit_distance(key, name), edit_distance(key, first(name, key.size())) + 1);
}

// The name that a user most likely meant, and what it takes.
struct guess {
  text name, takes;
};

guess nearest(text key, std::span<const tunable> own) {
  char small[32];
  const text lower{small, std::min(key.size(), sizeof small)};
  for (std::size_t i = 0; i < lower.size(); ++i)
    small[i] = char(key[i] >= 'A' && key[i] <= 'Z' ? key[i] | 0x20 : key[i]);
  guess best;
  unsigned least = std::numeric_limits<unsigned>::max();
  const auto consider = [&](text name, text takes) {
    const unsigned d = distance(lower, name);
    if (d < least) least = d, best = {name, takes};
  };
  for (const option_key& k : option_keys) consider(k.name, k.takes);
  for (const tunable& t : own) consider(t.name, t.takes);
  return best;
}

bool read_tunable(text value, const tunable& t, std::uint64_t& into) {
  std::uint64_t n = 0;
  switch (t.is) {
    case tunable::form::number:
      if (!read_number(value, n)) return false;
      break;
    case tunable::form::bytes: {
      std::size_t size = 0;
      if (!read_size(value, size)) return false;
      n = size;
      break;
    }
    case tunable::form::word: {
      const auto* const end = t.words + t.most + 1;
      const auto* const found = std::find(t.words, end, value);
      if (found == end) return false;
      n = std::uint64_t(found - t.words);
      break;
    }
  }
  if (n < t.least || n > t.most) return false;
  into = n;
  return true;
}

}  // namespace

// clang-format off
constinit const option_key option_keys[21] = {
    {"arena_size", size_form,
     [](text v, options& o) noexcept { return read_size(v, o.arena_size); },
     [](out& to, const options& o) noexcept { write_size(to, o.arena_size); }},
    {"page_size", "0 or a power of two from 4K to 1M",
     [](text v, options& o) noexcept { return read_page_size(v, o); },
     [](out& to, const options& o) noexcept { write_size(to, o.page_size); }},
    {"decay_ms", "milliseconds, 0 to 4294967295",
     [](text v, options& o) noexcept { return read_decay(v, o); },
     [](out& to, const options& o) noexcept { to << o.decay_ms; }},
    {"release", "dontneed or free",
     [](text v, options& o) noexcept { return read_word(v, release_words, o.release); },
     [](out& to, const options& o) noexcept { to << release_words[unsigned(o.release)]; }},
    {"thp", "off, madvise, on or large",
     [](text v, options& o) noexcept { return read_word(v, thp_words, o.thp); },
     [](out& to, const options& o) noexcept { to << thp_words[unsigned(o.thp)]; }},
    {"numa", "off or on",
     [](text v, options& o) noexcept { return read_word(v, numa_words, o.numa); },
     [](out& to, const options& o) noexcept { to << numa_words[unsigned(o.numa)]; }},
    {"limit", size_form,
     [](text v, options& o) noexcept { return read_size(v, o.limit); },
     [](out& to, const options& o) noexcept { write_size(to, o.limit); }},
    {"target", size_form,
     [](text v, options& o) noexcept { return read_size(v, o.target); },
     [](out& to, const options& o) noexcept { write_size(to, o.target); }},
    {"cgroup", switch_form,
     [](text v, options& o) noexcept { return read_switch(v, o.cgroup); },
     [](out& to, const options& o) noexcept { to << unsigned(o.cgroup); }},
    {"populate", switch_form,
     [](text v, options& o) noexcept { return read_switch(v, o.populate); },
     [](out& to, const options& o) noexcept { to << unsigned(o.populate); }},
    {"background", switch_form,
     [](text v, options& o) noexcept { return read_switch(v, o.background); },
     [](out& to, const options& o) noexcept { to << unsigned(o.background); }},
    {"hardened", switch_form,
     [](text v, options& o) noexcept { return read_switch(v, o.hardened); },
     [](out& to, const options& o) noexcept { to << unsigned(o.hardened); }},
    {"guard_rate", "one block in how many, 1 to 1000000000; 0: none",
     [](text v, options& o) noexcept { return read_guard_rate(v, o); },
     [](out& to, const options& o) noexcept { to << o.guard_rate; }},
    {"verbose", switch_form,
     [](text v, options& o) noexcept { return read_switch(v, o.verbose); },
     [](out& to, const options& o) noexcept { to << unsigned(o.verbose); }},
    {"stats", "0, 1, json or prometheus",
     [](text v, options& o) noexcept { return read_word(v, stats_words, o.stats); },
     [](out& to, const options& o) noexcept { to << stats_words[unsigned(o.stats)]; }},
    {"profile", "a file's name, 200 letters at most",
     [](text v, options& o) noexcept { return read_file(v, o.profile); },
     [](out& to, const options& o) noexcept { to << o.profile.data(); }},
    {"profile_rate", "a number of bytes, 1 to 1024G",
     [](text v, options& o) noexcept { return read_profile_rate(v, o); },
     [](out& to, const options& o) noexcept { write_size(to, o.profile_rate); }},
    {"profile_signal", "a signal's number, 1 to 64; 0: none",
     [](text v, options& o) noexcept { return read_signal(v, o); },
     [](out& to, const options& o) noexcept { to << o.profile_signal; }},
    {"timeline", "a file's name, 200 letters at most",
     [](text v, options& o) noexcept { return read_file(v, o.timeline); },
     [](out& to, const options& o) noexcept { to << o.timeline.data(); }},
    {"timeline_events", "how many a thread keeps, 1 to 100000000",
     [](text v, options& o) noexcept { return read_events(v, o); },
     [](out& to, const options& o) noexcept { to << o.timeline_events; }},
    {"timeline_at_least", "nanoseconds",
     [](text v, options& o) noexcept { return read_number(v, o.timeline_at_least); },
     [](out& to, const options& o) noexcept { to << o.timeline_at_least; }},
};
// clang-format on

unsigned edit_distance(std::string_view a, std::string_view b) noexcept {
  constexpr std::size_t longest = 32;  // no key is longer, and the rest of a longer word changes no choice
  a = first(a, longest);
  b = first(b, longest);
  unsigned rows[3][longest + 1];  // the row being filled and the two before it, in turn
  for (unsigned j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (unsigned i = 1; i <= a.size(); ++i) {
    const unsigned* before = rows[(i + 1) % 3];  // row i - 2
    const unsigned* above = rows[(i - 1) % 3];
    unsigned* row = rows[i % 3];
    row[0] = i;
    for (unsigned j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + unsigned(a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

void write_value(os::line_text& to, const tunable& t, std::uint64_t value) noexcept {
  switch (t.is) {
    case tunable::form::number: to << value; break;
    case tunable::form::bytes: write_size(to, value); break;
    case tunable::form::word: to << t.words[value]; break;
  }
}

option_error read_options(std::string_view all, options& into, std::span<const tunable> own) noexcept {
  while (!all.empty()) {
    const std::size_t comma = std::min(all.find(','), all.size());
    const text pair = trimmed(first(all, comma));
    all = without_first(all, comma + 1);
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const text key = trimmed(first(pair, equals));
    const text value = trimmed(without_first(pair, equals + 1));
    const auto found = std::find_if(std::begin(option_keys), std::end(option_keys),
                                    [&](const option_key& k) { return k.name == key; });
    if (found != std::end(option_keys)) {
      const bool has_value = equals != pair.size();
      if (!has_value || !found->read(value, into))
        return {option_error::bad_value, key, value, found->name, found->takes};
      continue;
    }
    const auto tuned = std::find_if(own.begin(), own.end(), [&](const tunable& t) { return t.name == key; });
    if (tuned == own.end()) {
      const guess meant = nearest(key, own);
      return {option_error::unknown_key, key, value, meant.name, meant.takes};
    }
    if (!read_tunable(value, *tuned, into.tuned[std::size_t(tuned - own.begin())]))
      return {option_error::bad_value, key, value, tuned->name, tuned->takes};
  }
  return {};
}

void describe(os::line_text& to, const option_error& error) noexcept {
  constexpr std::size_t shown = 80;  // of what the user wrote
  if (error.what == option_error::unknown_key) {
    to << "unknown option \"" << first(error.key, shown) << "\" (did you mean \"" << error.near << "\"?)";
  } else if (error.what == option_error::bad_value) {
    to << "bad value \"" << first(error.value, shown) << "\" for option \"" << error.near << "\": it takes "
       << error.takes;
  }
}

void write_options(os::line_text& to, const options& from, std::span<const tunable> own) noexcept {
  bool first = true;
  const auto next = [&](text name) {
    if (!first) to << ',';
    first = false;
    to << name << '=';
  };
  for (const option_key& key : option_keys) {
    next(key.name);
    key.write(to, from);
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    next(own[i].name);
    write_value(to, own[i], from.tuned[i]);
  }
}

}  // namespace polder::heap
