// Raw recordings, written by hand: tickets order threads, addresses become objects, and any length is read without harm.
#include "trace/pack.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "trace/raw_format.hpp"
#include "trace/reader.hpp"
#include "trace/varint.hpp"

namespace polder::trace {
namespace {

using bytes = std::vector<std::uint8_t>;

// One chunk; tickets are given absolute, as are addresses.
class chunk_by_hand {
 public:
  chunk_by_hand(std::uint32_t thread) { by(thread); }

  chunk_by_hand& by(std::uint32_t thread) {
    address_ = 0;
    return number(raw::op_thread).number(thread).number(ticket_).number(0);
  }
  chunk_by_hand& made(call what, std::uint64_t ticket, std::uint64_t size, std::uint64_t block) {
    return begin(what, ticket).number(size).address(block);
  }
  chunk_by_hand& used(call what, std::uint64_t ticket, std::uint64_t block) {
    return begin(what, ticket).address(block);
  }
  chunk_by_hand& resized(std::uint64_t from, std::uint64_t to, std::uint64_t size, std::uint64_t old,
                         std::uint64_t block) {
    begin(call::realloc, from).number(size).address(old).address(block).number(to - from);
    ticket_ = to;
    return *this;
  }

  bytes taken() const {
    bytes chunk(raw::chunk_size);
    const auto used = static_cast<std::uint32_t>(records_.size());
    std::memcpy(chunk.data(), &used, sizeof used);
    std::copy(records_.begin(), records_.end(), chunk.begin() + 8);
    return chunk;
  }

 private:
  chunk_by_hand& number(std::uint64_t value) {
    std::uint8_t b[longest_varint];
    const std::uint8_t* end = put_varint(b, value);
    for (const std::uint8_t* at = b; at != end; ++at) records_.push_back(*at);
    return *this;
  }
  chunk_by_hand& begin(call what, std::uint64_t ticket) {
    number(static_cast<std::uint64_t>(what)).number(ticket - ticket_).number(10);
    ticket_ = ticket;
    return *this;
  }
  chunk_by_hand& address(std::uint64_t block) {
    if (block == 0) return number(0);
    number(zigzag(static_cast<std::int64_t>(block - address_)) + 1);
    address_ = block;
    return *this;
  }

  bytes records_;
  std::uint64_t ticket_ = 0;
  std::uint64_t address_ = 0;
};

bytes recording(const std::vector<chunk_by_hand>& chunks) {
  bytes file(raw::header_size);
  raw::header h{};
  std::memcpy(h.magic, raw::magic, sizeof h.magic);
  std::memcpy(h.program, "by_hand", 8);
  std::memcpy(file.data(), &h, sizeof h);
  for (const auto& c : chunks) {
    const bytes chunk = c.taken();
    for (const std::uint8_t b : chunk) file.push_back(b);
  }
  return file;
}

struct packed {
  file_header about;
  std::vector<event> events;
};

packed pack_and_read(std::span<const std::uint8_t> raw_file) {
  bytes file(sizeof(file_header));
  const file_header about = pack(raw_file, [&](const bytes& chunk) {
    for (const std::uint8_t b : chunk) file.push_back(b);
  });
  std::memcpy(file.data(), &about, sizeof about);
  reader from(file);
  packed result{from.about(), {}};
  event e;
  while (from.next(e)) result.events.push_back(e);
  return result;
}

// As "malloc 0 by 0", for comparison at a glance.
std::vector<std::string> told(const packed& p) {
  std::vector<std::string> lines;
  for (const event& e : p.events) {
    std::ostringstream line;
    line << call_names[static_cast<unsigned>(e.what)];
    if (e.makes() || e.uses()) line << " #" << e.object;
    if (e.has_size()) line << ' ' << e.size;
    line << (e.failed ? " failed" : "") << (e.null ? " null" : "") << (e.gone ? " gone" : "") << " by " << e.thread;
    lines.push_back(line.str());
  }
  return lines;
}

using lines = std::vector<std::string>;

TEST(trace_pack, orders_threads_by_their_tickets) {
  chunk_by_hand one(7);
  chunk_by_hand two(3);
  one.made(call::malloc, 0, 100, 0x1000).used(call::free, 5, 0x2000);
  two.made(call::malloc, 1, 200, 0x2000).used(call::free, 2, 0x1000).made(call::malloc, 3, 300, 0x1000);
  EXPECT_EQ(
      told(pack_and_read(recording({two, one}))),
      (lines{"malloc #0 100 by 0", "malloc #1 200 by 1", "free #0 by 1", "malloc #2 300 by 1", "free #1 by 0"}));
}

TEST(trace_pack, a_block_that_realloc_gave_back_may_be_given_out_before_realloc_returns) {
  chunk_by_hand one(1);
  chunk_by_hand two(2);
  one.made(call::malloc, 0, 10, 0x1000).resized(1, 4, 1000, 0x1000, 0x9000).used(call::free, 6, 0x9000);
  two.made(call::malloc, 2, 20, 0x1000).used(call::free, 5, 0x1000);
  const auto p = pack_and_read(recording({one, two}));
  EXPECT_EQ(p.about.foreign, 0u);
  EXPECT_EQ(told(p), (lines{"malloc #0 10 by 0", "realloc #0 1000 by 0", "malloc #1 20 by 1", "free #1 by 1",
                            "free #0 by 0"}));
}

TEST(trace_pack, a_block_may_be_given_back_while_the_realloc_that_gets_it_is_under_way) {
  chunk_by_hand one(1);
  chunk_by_hand two(2);
  one.made(call::malloc, 0, 10, 0x1000).resized(2, 4, 1000, 0x1000, 0x9000).used(call::free, 5, 0x9000);
  two.made(call::malloc, 1, 20, 0x9000).used(call::free, 3, 0x9000);
  const auto p = pack_and_read(recording({one, two}));
  EXPECT_EQ(p.about.foreign, 0u);
  EXPECT_EQ(told(p), (lines{"malloc #0 10 by 0", "malloc #1 20 by 1", "realloc #0 1000 by 0", "free #1 by 1",
                            "free #0 by 0"}));
}

TEST(trace_pack, knows_what_realloc_can_mean) {
  chunk_by_hand one(1);
  one.resized(0, 1, 50, 0, 0x1000);                          // makes
  one.resized(2, 3, 60, 0x1000, 0x1000);                     // stays
  one.resized(4, 5, std::uint64_t{1} << 62, 0x1000, 0);      // fails
  one.resized(6, 7, 0, 0x1000, 0);                           // frees
  one.resized(8, 9, 70, 0xbad0, 0x3000);                     // of a block that nobody saw made
  one.used(call::free, 10, 0).used(call::free, 11, 0xdad0);  // nothing; a stranger's
  one.made(call::malloc, 12, std::uint64_t{1} << 61, 0);
  const auto p = pack_and_read(recording({one}));
  EXPECT_EQ(p.about.foreign, 2u);
  EXPECT_EQ(told(p),
            (lines{"realloc #0 50 null by 0", "realloc #0 60 by 0", "realloc 4611686018427387904 failed by 0",
                   "realloc #0 0 gone by 0", "realloc #1 70 null by 0", "free null by 0",
                   "malloc 2305843009213693952 failed by 0"}));
}

TEST(trace_pack, a_thread_of_whom_nothing_is_left_has_no_number) {
  chunk_by_hand stranger(1);
  chunk_by_hand two(2);
  stranger.used(call::free, 0, 0xbad0);
  two.made(call::malloc, 1, 10, 0x1000);
  const auto p = pack_and_read(recording({stranger, two}));
  EXPECT_EQ(p.about.threads, 1u);
  EXPECT_EQ(told(p), (lines{"malloc #0 10 by 0"}));
}

TEST(trace_pack, cuts_a_long_name_between_letters) {
  struct {
    std::size_t as;  // before what follows
    const char* behind;
    std::size_t kept;
  } const names[] = {{4, "b", 5},        {39, "", 39},        {50, "", 39},
                     {38, "\u00e9", 38}, {37, "\u00e9b", 39}, {36, "\U0001d11ecde", 36}};
  for (const auto& [as, behind, kept] : names) {
    std::string name(as, 'a');
    name += behind;
    bytes file = recording({chunk_by_hand(1)});
    std::memset(file.data() + offsetof(raw::header, program), 0, sizeof(raw::header::program));
    std::memcpy(file.data() + offsetof(raw::header, program), name.data(), name.size());
    EXPECT_EQ(pack_and_read(file).about.program, name.substr(0, kept));
  }
}

TEST(trace_pack, is_cut_short_where_there_are_more_threads_than_numbers) {
  std::vector<chunk_by_hand> chunks;
  for (std::uint32_t thread = 1; thread <= most_threads + 1; ++thread) {
    if (thread % 2048 == 1) chunks.emplace_back(thread);
    chunks.back().by(thread).made(call::malloc, thread, 10, 0x1000 * thread);
  }
  chunks.back().by(1).used(call::free, most_threads + 2, 0x1000);
  const auto p = pack_and_read(recording(chunks));
  EXPECT_EQ(p.about.cut_short, 1u);
  EXPECT_EQ(p.about.threads, most_threads);
  EXPECT_EQ(p.events.size(), most_threads);
  chunks.back() = chunk_by_hand(1).used(call::free, most_threads + 2, 0x1000);
  EXPECT_EQ(pack_and_read(recording(chunks)).about.cut_short, 0u);
}

TEST(trace_pack, reads_as_much_as_there_is) {
  chunk_by_hand one(1);
  for (std::uint64_t n = 0; n < 40; ++n)
    one.made(call::malloc, 2 * n, 10 + n, 0x1000 * (n + 1)).used(call::free, 2 * n + 1, 0x1000 * (n + 1));
  const bytes whole = recording({one});
  std::size_t last = 0;
  for (std::size_t length = sizeof(raw::header); length < raw::header_size + 1200; ++length) {
    const bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    const std::size_t now = pack_and_read(cut).events.size();
    EXPECT_GE(now, last) << length;
    last = now;
  }
  EXPECT_EQ(last, 80u);
  for (std::size_t length = 0; length < sizeof(raw::header); ++length)
    EXPECT_THROW(pack_and_read(std::span(whole).first(length)), bad_trace);
}

TEST(trace_pack, refuses_what_is_no_recording) { EXPECT_THROW(pack_and_read(bytes(100000, 1)), bad_trace); }

}  // namespace
}  // namespace polder::trace
