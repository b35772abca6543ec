#include <gtest/gtest.h>

#include <polder/os/call_frame_bytes_test.hpp>
#include <polder/os/call_frame_index.hpp>

namespace polder::os {
namespace {

// A table of so many functions, ten bytes of code apart and from byte 1000 on; the entry of the nth lies at its byte n.
dwarf_text table_of(unsigned functions) {
  dwarf_text t{1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0};
  t.fixed(std::uint32_t(functions));
  for (unsigned i = 0; i < functions; ++i) t.fixed(std::int32_t(1000 + 10 * i)).fixed(std::int32_t(i));
  return t;
}

std::ptrdiff_t found_in(const dwarf_text& t, unsigned place) {
  const std::byte* const entry = entry_before(t.whole(), t.data(), address(t.data()) + place);
  return entry == nullptr ? -1 : entry - t.data();
}

TEST(call_frame_index, finds_the_last_that_begins_before) {
  for (const unsigned functions : {1u, 2u, 3u, 7u, 8u, 100u}) {
    const dwarf_text t = table_of(functions);
    EXPECT_EQ(found_in(t, 999), -1);
    for (unsigned i = 0; i < functions; ++i) {
      EXPECT_EQ(found_in(t, 1000 + 10 * i), i);
      EXPECT_EQ(found_in(t, 1009 + 10 * i), i);
    }
    EXPECT_EQ(found_in(t, 100'000), functions - 1) << "whether it reaches so far, it says itself";
  }
  EXPECT_EQ(found_in(table_of(0), 1000), -1);
}

TEST(call_frame_index, what_no_linker_writes_is_not_read) {
  const dwarf_text good = table_of(3);
  const auto with = [&](std::size_t at, int b) { return dwarf_text{good}.put(at, std::byte(b)); };
  ASSERT_EQ(found_in(good, 1000), 0);
  EXPECT_EQ(found_in(with(0, 2), 1000), -1) << "version";
  EXPECT_EQ(found_in(with(1, 0x07), 1000), -1) << "pointer of no known form";
  EXPECT_EQ(found_in(with(2, 0xff), 1000), -1) << "not counted";
  EXPECT_EQ(found_in(with(3, 0xff), 1000), -1) << "no table";
  EXPECT_EQ(found_in(with(3, 0x3c), 1000), -1) << "a table of longer numbers";
  EXPECT_EQ(found_in(with(8, 4), 1000), -1) << "longer than the object";
  EXPECT_EQ(found_in(with(11, 0xff), 1000), -1);
  EXPECT_EQ(found_in(with(19, 0x7f), 1000), -1) << "an entry outside of the object";
  for (std::size_t length = 0; length < good.size(); ++length) {
    dwarf_text t = good;
    t.cut(length);
    EXPECT_EQ(found_in(t, 1000), -1) << length;
  }
}

}  // namespace
}  // namespace polder::os
