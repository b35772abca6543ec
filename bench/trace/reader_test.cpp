// A trace comes back as it was; one that is cut off, changed or not a trace at all is refused.
#include "trace/reader.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "core/random.hpp"
#include "trace/encoder.hpp"

namespace polder::trace {
namespace {

using bytes = std::vector<std::uint8_t>;

bytes file_of(const std::vector<event>& events) {
  encoder to;
  bytes file(sizeof(file_header));
  const auto put = [&] {
    for (const std::uint8_t b : to.take()) file.push_back(b);
  };
  for (const event& e : events) {
    to.add(e);
    if (to.full()) put();
  }
  if (!to.empty()) put();
  file_header about{};
  std::memcpy(about.program, "made_up", 8);
  about.foreign = 3;
  about = to.header(about);
  std::memcpy(file.data(), &about, sizeof about);
  return file;
}

// All kinds of events, about objects that are there.
std::vector<event> made_up(std::size_t count, std::uint64_t seed) {
  bench::random numbers(seed, 0);
  std::vector<event> events;
  std::vector<std::uint32_t> live;
  std::uint32_t objects = 0;
  std::uint64_t now = 0;
  while (events.size() < count) {
    event e;
    e.what = static_cast<call>(numbers.below(calls));
    e.thread = static_cast<std::uint32_t>(numbers.below(5));
    e.time_ns = now += numbers.below(3) == 0 ? 0 : numbers.next() >> numbers.between(30, 63);
    if (e.has_size()) e.size = numbers.next() >> numbers.below(64);
    if (is_aligned(e.what)) e.alignment_log2 = static_cast<std::uint8_t>(numbers.below(64));
    const bool of_block = e.what == call::free || e.what == call::usable_size || e.what == call::realloc;
    e.null = of_block && (live.empty() || numbers.percent(10));
    e.failed = e.what != call::free && e.what != call::usable_size && numbers.percent(5);
    e.gone = e.what == call::realloc && !e.null && !e.failed && numbers.percent(20);
    if (e.uses()) {
      const auto at = numbers.below(live.size());
      e.object = live[at];
      if (e.ends()) {
        live[at] = live.back();
        live.pop_back();
      }
    }
    if (e.makes()) {
      e.object = objects++;
      live.push_back(e.object);
    }
    events.push_back(e);
  }
  return events;
}

// How many events it hands out; throws where it refuses.
std::size_t read_all(std::span<const std::uint8_t> file) {
  reader from(file);
  event e;
  std::size_t n = 0;
  while (from.next(e)) ++n;
  return n;
}

TEST(trace_reader, gives_back_what_was_written) {
  const auto events = made_up(3 * events_in_chunk + 5, 1);
  const auto file = file_of(events);
  reader from(file);
  EXPECT_STREQ(from.about().program, "made_up");
  EXPECT_EQ(from.about().chunks, 4u);
  EXPECT_EQ(from.about().events, events.size());
  EXPECT_EQ(from.about().duration_ns, events.back().time_ns);
  EXPECT_EQ(from.about().foreign, 3u);
  event got;
  for (std::size_t n = 0; n < events.size(); ++n) {
    const event& e = events[n];
    ASSERT_TRUE(from.next(got));
    ASSERT_EQ(
        std::tie(got.what, got.failed, got.null, got.gone, got.thread, got.size, got.time_ns, got.alignment_log2),
        std::tie(e.what, e.failed, e.null, e.gone, e.thread, e.size, e.time_ns, e.alignment_log2))
        << n;
    ASSERT_TRUE(got.object == e.object || !(e.makes() || e.uses())) << n;
  }
  EXPECT_FALSE(from.next(got));
}

TEST(trace_reader, reads_a_trace_without_events) { EXPECT_EQ(read_all(file_of({})), 0u); }

TEST(trace_reader, refuses_a_trace_that_ends_early_wherever_it_ends) {
  const auto file = file_of(made_up(300, 2));
  for (std::size_t length = 0; length < file.size(); ++length) {
    const bytes cut(file.begin(),
                    file.begin() + static_cast<std::ptrdiff_t>(length));  // its own end, for the sanitizer
    EXPECT_THROW(read_all(cut), bad_trace) << length;
  }
  EXPECT_EQ(read_all(file), 300u);
}

TEST(trace_reader, refuses_a_trace_with_any_bit_changed) {
  auto file = file_of(made_up(100, 3));
  for (std::size_t at = 0; at < file.size() * 8; ++at) {
    file[at / 8] ^= static_cast<std::uint8_t>(1u << at % 8);
    EXPECT_THROW(read_all(file), bad_trace) << at;
    file[at / 8] ^= static_cast<std::uint8_t>(1u << at % 8);
  }
}

TEST(trace_reader, refuses_what_is_behind_the_end) {
  auto file = file_of(made_up(100, 4));
  file.push_back(0);
  EXPECT_THROW(read_all(file), bad_trace);
}

TEST(trace_reader, refuses_what_cannot_have_happened) {
  const event made{.what = call::malloc, .size = 8};
  const event freed{.what = call::free, .object = 0};
  EXPECT_EQ(read_all(file_of({made, freed})), 2u);
  EXPECT_THROW(read_all(file_of({made, freed, freed})), bad_trace) << "freed twice";
  EXPECT_THROW(read_all(file_of({freed, made})), bad_trace) << "freed before it was made";
  EXPECT_THROW(read_all(file_of({made, event{.what = call::free, .object = 1}})), bad_trace) << "never made";
  EXPECT_THROW(read_all(file_of({event{.what = call::malloc, .null = true}})), bad_trace)
      << "malloc of a null pointer";
  EXPECT_THROW(read_all(file_of({made, event{.what = call::free, .failed = true}})), bad_trace)
      << "a free that failed";
  EXPECT_THROW(read_all(file_of({event{.what = call::memalign, .alignment_log2 = 64}})), bad_trace) << "2^64";
}

TEST(trace_reader, says_what_is_wrong) {
  const auto complaint = [](const bytes& file) -> std::string {
    try {
      read_all(file);
    } catch (const bad_trace& why) {
      return why.what();
    }
    return "nothing";
  };
  auto file = file_of(made_up(100, 5));
  EXPECT_EQ(complaint({}), "empty");
  EXPECT_EQ(complaint(bytes(500, 'x')), "not a trace of Polder's");
  EXPECT_EQ(complaint(bytes(file.begin(), file.end() - 1)), "truncated: of 1 chunks it holds 0");
  file.back() ^= 1;
  EXPECT_EQ(complaint(file), "corrupt: a wrong checksum, in chunk 0 at event 0");
}

}  // namespace
}  // namespace polder::trace
