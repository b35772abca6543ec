#include <gtest/gtest.h>

#include <array>
#include <random>

#include <polder/os/call_frame_bytes_test.hpp>
#include <polder/os/call_frames.hpp>

namespace polder::os {
namespace {

// Of each machine, the register that stands for the return address, and one of those that calls keep.
constexpr unsigned ra = machine::has_link_register ? 30 : 16;
constexpr unsigned sp = machine::stack_pointer;
constexpr unsigned kept = machine::has_link_register ? 19 : 3;
constexpr unsigned other = kept + 1;

constexpr std::uintptr_t code = 0x10'0000;

// The instructions, by their names in the standard.
constexpr int advance_loc = 0x40, offset = 0x80, restore = 0xc0;  // or'ed with a number
constexpr int nop = 0x00, set_loc = 0x01, advance_loc1 = 0x02, advance_loc2 = 0x03, advance_loc4 = 0x04,
              offset_extended = 0x05, restore_extended = 0x06, undefined = 0x07, same_value = 0x08,
              in_register = 0x09, remember_state = 0x0a, restore_state = 0x0b, def_cfa = 0x0c,
              def_cfa_register = 0x0d, def_cfa_offset = 0x0e, def_cfa_expression = 0x0f, expression = 0x10,
              offset_extended_sf = 0x11, def_cfa_sf = 0x12, def_cfa_offset_sf = 0x13, val_offset = 0x14,
              val_offset_sf = 0x15, val_expression = 0x16, negate_ra_state = 0x2d, args_size = 0x2e,
              negative_offset_extended = 0x2f;
constexpr int deref = 0x06, const1u = 0x08, const2s = 0x0b, consts = 0x11, dup = 0x12, drop = 0x13, over = 0x14,
              pick = 0x15, swap = 0x16, op_and = 0x1a, minus = 0x1c, mul = 0x1e, neg = 0x1f, op_not = 0x20,
              op_or = 0x21, plus = 0x22, plus_uconst = 0x23, shl = 0x24, shr = 0x25, shra = 0x26, op_xor = 0x27,
              eq = 0x29, ge = 0x2a, gt = 0x2b, le = 0x2c, lt = 0x2d, ne = 0x2e, lit0 = 0x30, breg0 = 0x70,
              bregx = 0x92, op_nop = 0x96;

// A function that stands at `code` + 0x20, with a stack of which word n holds 1000 + n. Where nothing else is said, its frame
// is four words long: CFA is sp + 32, the return address lies in the last of them.
class call_frames : public testing::Test {
 protected:
  call_frames() {
    for (unsigned i = 0; i < stack.size(); ++i) stack[i] = 1000 + i;
    for (unsigned i = 0; i < machine::registers; ++i) a.value[i] = 500 + i;
    a.sp() = address(stack.data());
    a.pc = code + 0x20;
    a.is_exact = true;
    e.return_column = ra;
    e.common = {def_cfa, int(sp), 32, offset | int(ra), 1};
  }

  bool steps() {
    const written_object o{e};
    call_frame_entry entry;
    return read_entry(o.bytes.whole(), o.at(), entry) && to_caller(a, entry, memory);
  }

  // The caller's value of a register, and whether it can be told.
  bool finds(unsigned column, std::uintptr_t value) {
    const activation before = a;
    const bool found = steps() && a.value[column] == value;
    a = before;
    return found;
  }

  // The caller's value of a register that is described by an expression.
  bool calculates(const dwarf_text& what, std::uintptr_t value) {
    e.instructions = dwarf_text{val_expression, int(kept)}.block(what);
    return finds(kept, value);
  }

  // Does the row apply at this place?
  bool applies(std::uintptr_t pc, bool is_exact) {
    a.pc = pc;
    a.is_exact = is_exact;
    return finds(ra, 1001);
  }

  alignas(16) std::array<std::uintptr_t, 64> stack;
  activation a;
  written_entry e;
  readable_memory memory;
};

TEST_F(call_frames, a_call_is_undone) {
  ASSERT_TRUE(steps());
  EXPECT_EQ(a.pc, 1003u);
  EXPECT_EQ(a.sp(), address(&stack[4]));
  EXPECT_EQ(a.value[kept], 500 + kept);
  EXPECT_FALSE(a.is_exact);
}

TEST_F(call_frames, a_row_applies_from_its_place_on) {
  e.instructions = {advance_loc | 8, offset | int(ra), 3};  // from code + 32 on, its word 1: units of four bytes
  EXPECT_FALSE(applies(code + 31, true));
  EXPECT_TRUE(applies(code + 32, true));
  EXPECT_FALSE(applies(code + 32, false)) << "the call lies before what it returns to";
  EXPECT_TRUE(applies(code + 33, false));
  for (const dwarf_text& advance :
       {dwarf_text{advance_loc1, 8}, dwarf_text{advance_loc2}.fixed(std::uint16_t{8}),
        dwarf_text{advance_loc4}.fixed(std::uint32_t{8}), dwarf_text{set_loc}.fixed(std::uintptr_t{code + 32}),
        dwarf_text{advance_loc | 3, nop, advance_loc | 5}}) {
    e.instructions = dwarf_text{advance}.add({offset | int(ra), 3});
    EXPECT_FALSE(applies(code + 31, true));
    EXPECT_TRUE(applies(code + 32, true));
  }
  e.instructions = {advance_loc | 1, set_loc};
  e.instructions.fixed(std::uintptr_t{code});
  EXPECT_FALSE(applies(code + 32, true)) << "backwards";
}

TEST_F(call_frames, the_cfa_comes_from_a_register_or_an_expression) {
  a.value[kept] = a.sp() + 8;
  const auto cfa = [&](const dwarf_text& by) {
    e.instructions = by;
    const activation before = a;
    const std::uintptr_t found = steps() ? a.sp() - before.sp() : 0;
    a = before;
    return found;
  };
  EXPECT_EQ(cfa({def_cfa, int(sp), 48}), 48u);
  EXPECT_EQ(cfa({def_cfa, int(kept), 40}), 48u);
  EXPECT_EQ(cfa({def_cfa_offset, 64}), 64u);
  EXPECT_EQ(cfa({def_cfa_offset, 56, def_cfa_register, int(kept)}), 64u);
  EXPECT_EQ(cfa({def_cfa_sf, int(sp), 0x7a}), 48u) << "-6 times -8";
  EXPECT_EQ(cfa({def_cfa_offset_sf, 0x7a}), 48u);
  EXPECT_EQ(cfa({def_cfa_expression, 4, breg0 + int(kept), 0, plus_uconst, 40}), 48u);
  // GCC's for a function that aligns its stack: the CFA was saved.
  stack[5] = a.sp() + 96;
  EXPECT_EQ(cfa({def_cfa_expression, 3, breg0 + int(sp), 40, deref}), 96u);
  EXPECT_EQ(cfa({def_cfa_expression, 2, breg0 + int(sp), 48, def_cfa_offset, 48}), 0u) << "of which register?";
  EXPECT_EQ(cfa({def_cfa_expression, 2, breg0 + int(sp), 48, def_cfa_register, int(sp)}), 0u);
  EXPECT_EQ(cfa({def_cfa, int(machine::registers), 48}), 0u);
}

TEST_F(call_frames, a_register_is_saved_moved_calculated_or_lost) {
  const auto kept_by = [&](const dwarf_text& rule, std::uintptr_t value) {
    e.instructions = rule;
    return finds(kept, value);
  };
  const std::uintptr_t cfa = a.sp() + 32;
  const int k = int(kept);
  EXPECT_TRUE(kept_by({offset | k, 2}, 1002));
  EXPECT_TRUE(kept_by({offset_extended, k, 3}, 1001));
  EXPECT_TRUE(kept_by({offset_extended_sf, k, 0x7f}, 1005)) << "-1 times -8: above the CFA";
  EXPECT_TRUE(kept_by({negative_offset_extended, k, 1}, 1005));
  EXPECT_TRUE(kept_by({val_offset, k, 2}, cfa - 16));
  EXPECT_TRUE(kept_by({val_offset_sf, k, 0x7e}, cfa + 16));
  EXPECT_TRUE(kept_by({in_register, k, int(other)}, 500 + other));
  EXPECT_TRUE(kept_by({offset | k, 2, same_value, k}, 500 + kept));
  EXPECT_TRUE(kept_by({offset | k, 2, undefined, k}, 0));
  EXPECT_TRUE(kept_by({offset | k, 2, restore | k}, 500 + kept));
  EXPECT_TRUE(kept_by({offset | k, 2, restore_extended, k}, 500 + kept));
  EXPECT_TRUE(kept_by({expression, k, 2, breg0 + int(sp), 40}, 1005));
  EXPECT_TRUE(kept_by({expression, k, 2, plus_uconst, 8}, 1005)) << "the CFA lies on the stack";
  EXPECT_TRUE(kept_by({val_expression, k, 2, plus_uconst, 8}, cfa + 8));
  EXPECT_TRUE(kept_by({args_size, 32, offset | k, 2}, 1002));
  EXPECT_TRUE(kept_by({offset | k, 2, remember_state, offset | k, 3, restore_state}, 1002));
  // Rules for registers that are not followed, of vectors and the like.
  EXPECT_TRUE(kept_by({offset_extended, 0x50, 2, restore_extended, 0x50, restore | 0x3f, offset | k, 2}, 1002));
  EXPECT_FALSE(kept_by({in_register, k, int(machine::registers)}, 0));
  e.common.add({offset | k, 2});
  EXPECT_TRUE(kept_by({offset | k, 3, restore | k}, 1002)) << "as the functions have in common";
}

TEST_F(call_frames, only_where_a_call_leaves_it_a_register_keeps_the_return_address) {
  e.instructions = {same_value, int(ra)};
  EXPECT_EQ(finds(ra, 500 + ra), machine::has_link_register);
  a.is_exact = false;
  EXPECT_FALSE(steps()) << "it has called since";
  e.instructions = {negate_ra_state};
  EXPECT_EQ(steps(), machine::has_link_register);
}

TEST_F(call_frames, expressions_calculate) {
  const std::int64_t minus_one = -1;
  EXPECT_TRUE(calculates({lit0 + 7}, 7));
  EXPECT_TRUE(calculates({const1u, 0xff}, 255));
  EXPECT_TRUE(calculates({const2s, 0xff, 0xff}, std::uintptr_t(minus_one)));
  EXPECT_TRUE(calculates(dwarf_text{0x0a}.fixed(std::uint16_t{0xffff}), 0xffff));
  EXPECT_TRUE(calculates(dwarf_text{0x09, 0x80}, std::uintptr_t(-128)));
  EXPECT_TRUE(calculates(dwarf_text{0x0c}.fixed(std::uint32_t{0xffff'ffff}), 0xffff'ffff));
  EXPECT_TRUE(calculates(dwarf_text{0x0d}.fixed(std::int32_t{-5}), std::uintptr_t(-5)));
  EXPECT_TRUE(calculates(dwarf_text{0x0e}.fixed(std::uint64_t{77}), 77));
  EXPECT_TRUE(calculates(dwarf_text{0x10}.unsigned_leb(~std::uint64_t{0}), std::uintptr_t(minus_one)));
  EXPECT_TRUE(calculates(dwarf_text{consts}.signed_leb(INT64_MIN), std::uintptr_t(INT64_MIN)));
  EXPECT_TRUE(calculates({lit0 + 3, dup, mul}, 9));
  EXPECT_TRUE(calculates({lit0 + 3, lit0 + 4, drop}, 3));
  EXPECT_TRUE(calculates({lit0 + 3, lit0 + 4, over, plus, minus}, std::uintptr_t(-4)));
  EXPECT_TRUE(calculates({lit0 + 3, lit0 + 4, lit0 + 5, pick, 2}, 3));
  EXPECT_TRUE(calculates({lit0 + 3, lit0 + 4, swap, minus}, 1));
  EXPECT_TRUE(calculates({lit0 + 6, lit0 + 3, op_and}, 2));
  EXPECT_TRUE(calculates({lit0 + 6, lit0 + 3, op_or}, 7));
  EXPECT_TRUE(calculates({lit0 + 6, lit0 + 3, op_xor}, 5));
  EXPECT_TRUE(calculates({lit0 + 6, neg, op_not}, 5));
  EXPECT_TRUE(calculates({lit0 + 1, lit0 + 3, shl}, 8));
  EXPECT_TRUE(calculates({lit0 + 16, neg, lit0 + 2, shra}, std::uintptr_t(-4)));
  EXPECT_TRUE(calculates({lit0 + 16, lit0 + 2, shr, op_nop}, 4));
  EXPECT_TRUE(calculates({lit0 + 1, const1u, 64, shl}, 0));
  EXPECT_TRUE(calculates({lit0 + 1, const1u, 200, shr}, 0));
  EXPECT_TRUE(calculates({lit0 + 1, neg, const1u, 200, shra}, std::uintptr_t(minus_one)));
  EXPECT_TRUE(calculates({bregx, int(other), 2}, 502 + other));
  const auto compares = [&](int operation, unsigned less, unsigned equal, unsigned greater) {
    return calculates({lit0 + 1, neg, lit0 + 1, operation}, less) &&
           calculates({lit0 + 1, lit0 + 1, operation}, equal) &&
           calculates({lit0 + 1, lit0 + 1, neg, operation}, greater);
  };
  EXPECT_TRUE(compares(eq, 0, 1, 0));
  EXPECT_TRUE(compares(ne, 1, 0, 1));
  EXPECT_TRUE(compares(lt, 1, 0, 0));
  EXPECT_TRUE(compares(le, 1, 1, 0));
  EXPECT_TRUE(compares(gt, 0, 0, 1));
  EXPECT_TRUE(compares(ge, 0, 1, 1));
}

// What the linker writes for a procedure linkage table of x86-64: from the 11th of an entry's 16 bytes on there is one more
// word on the stack.
TEST_F(call_frames, an_entry_of_a_procedure_linkage_table) {
  a.value[ra] = a.pc;
  const int pc = breg0 + int(ra);
  e.common = dwarf_text{def_cfa_expression}.block({breg0 + int(sp), 16, pc, 0, lit0 + 15, op_and, lit0 + 11, ge,
                                                   lit0 + (machine::has_link_register ? 4 : 3), shl, plus});
  e.common.add({val_expression, int(ra), 1, lit0 + 9});
  for (const unsigned in : {0u, 10u, 11u, 15u}) {
    a.pc = a.value[ra] = code + 0x20 + in;
    const std::uintptr_t more = machine::has_link_register ? 16 : 8;
    EXPECT_TRUE(finds(sp, a.sp() + 16 + (in < 11 ? 0 : more))) << in;
  }
}

// The interrupted function's registers lie above the handler's frame, and its stack may be another.
TEST_F(call_frames, a_signal_trampoline) {
  stack[20] = 0x1230;
  stack[21] = code + 7;
  e.augmentation = {'z', 'R', 'S', 0};
  e.common = dwarf_text{def_cfa_expression}.block(dwarf_text{breg0 + int(sp)}.signed_leb(160).byte(deref));
  e.common.add(dwarf_text{expression, int(ra)}.block(dwarf_text{breg0 + int(sp)}.signed_leb(168)));
  ASSERT_TRUE(steps());
  EXPECT_EQ(a.sp(), 0x1230u) << "far below";
  EXPECT_EQ(a.pc, code + 7);
  EXPECT_TRUE(a.is_exact);
  EXPECT_EQ(a.place(), code + 7);
}

TEST_F(call_frames, a_stack_that_leads_downwards_is_none) {
  e.common = {def_cfa, int(kept), 0, offset | int(ra), 1};
  const std::uintptr_t middle = address(&stack[32]);
  a.sp() = middle;
  for (const bool is_exact : {true, false}) {
    a.is_exact = is_exact;
    a.value[kept] = middle - 16;
    EXPECT_FALSE(finds(ra, 1029));
    a.value[kept] = middle;
    EXPECT_EQ(finds(ra, 1031), is_exact) << "nothing was used of it: only where nothing was called";
    a.value[kept] = middle + 16;
    EXPECT_TRUE(finds(ra, 1033));
    a.value[kept] = middle + 12;
    EXPECT_FALSE(steps()) << "not aligned";
  }
}

TEST_F(call_frames, where_it_ends_or_cannot_be_read_nothing_changes) {
  const auto stays = [&](const dwarf_text& instructions) {
    e.instructions = instructions;
    const activation before = a;
    return !steps() && a.value == before.value && a.pc == before.pc && a.is_exact == before.is_exact;
  };
  EXPECT_TRUE(stays({undefined, int(ra)})) << "the first function of a thread";
  stack[3] = 0;
  EXPECT_TRUE(stays({})) << "returns to nowhere";
  stack[3] = 1003;
  a.value[kept] = 0x10;
  EXPECT_TRUE(stays({def_cfa, int(kept), 32}));
  a.value[kept] = ~std::uintptr_t{15};
  EXPECT_TRUE(stays({def_cfa, int(kept), 0}));
  a.value[kept] = std::uintptr_t{1} << 62;
  EXPECT_TRUE(stays({def_cfa, int(kept), 0}));
  EXPECT_TRUE(stays({expression, int(kept), 2, lit0 + 0, deref}));
  EXPECT_TRUE(stays({expression, int(kept), 2, breg0 + int(sp), 4})) << "not aligned";
  a.pc = code - 1;
  EXPECT_TRUE(stays({})) << "another function's";
  a.pc = code + 0x100;
  EXPECT_TRUE(stays({}));
  a.is_exact = false;
  EXPECT_FALSE(stays({})) << "its last instruction may be a call";
}

TEST_F(call_frames, malformed_instructions_are_not_understood) {
  for (const dwarf_text& bad : {
           dwarf_text{0x17},
           dwarf_text{0x3f},
           dwarf_text{0x1d, 0, 0},
           dwarf_text{restore_state},
           dwarf_text{remember_state, remember_state, remember_state, remember_state, remember_state},
           dwarf_text{advance_loc1},
           dwarf_text{advance_loc4, 0, 0, 0},
           dwarf_text{def_cfa},
           dwarf_text{def_cfa, int(sp)},
           dwarf_text{def_cfa, int(sp), 0x80, 0x80, 0x80},
           dwarf_text{offset | int(kept)},
           dwarf_text{def_cfa_expression, 0x7f, lit0},
           dwarf_text{expression, int(kept), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, lit0},
           dwarf_text{def_cfa_offset}.unsigned_leb(std::uint64_t{1} << 40),
           dwarf_text{offset | int(kept)}.unsigned_leb(std::uint64_t{1} << 40),
           dwarf_text{offset_extended_sf, int(kept)}.signed_leb(-(std::int64_t{1} << 40)),
           dwarf_text{def_cfa_expression, 0},
           dwarf_text{val_expression, int(kept), 1, drop},
           dwarf_text{val_expression, int(kept), 2, drop, drop},
           dwarf_text{val_expression, int(kept), 1, plus},
           dwarf_text{val_expression, int(kept), 1, over},
           dwarf_text{val_expression, int(kept), 2, pick, 1},
           dwarf_text{val_expression, int(kept), 1, const1u},
           dwarf_text{val_expression, int(kept), 1, breg0 + int(sp)},
           dwarf_text{val_expression, int(kept), 3, 0x2f, 0xfd, 0xff},  // a jump: to itself, for ever
           dwarf_text{val_expression, int(kept), 3, 0x28, 0xfd, 0xff},
           dwarf_text{val_expression, int(kept), 1, 0xff},
           dwarf_text{val_expression, int(kept), 3, bregx, 0x7f, 0},
       }) {
    e.instructions = bad;
    EXPECT_FALSE(steps()) << testing::PrintToString(
        std::vector<int>(reinterpret_cast<const unsigned char*>(bad.data()),
                         reinterpret_cast<const unsigned char*>(bad.data()) + bad.size()));
  }
  dwarf_text deep;
  for (int i = 0; i < 16; ++i) deep.byte(lit0);
  EXPECT_FALSE(calculates(deep, 0)) << "17 words";
  e.common = {};
  e.instructions = {};
  EXPECT_FALSE(steps()) << "no CFA";
}

TEST_F(call_frames, malformed_entries_are_not_read) {
  call_frame_entry entry;
  const auto reads = [&](const written_object& o) { return read_entry(o.bytes.whole(), o.at(), entry); };
  const auto with = [&](std::size_t at, std::uint32_t value) {
    written_object o{e};
    for (unsigned i = 0; i < 4; ++i) o.bytes.put(at + i, std::byte(value >> 8 * i));
    return o;
  };
  const std::size_t fde = written_object{e}.entry;
  ASSERT_TRUE(reads(written_object{e}));
  EXPECT_EQ(entry.begin, code);
  EXPECT_EQ(entry.end, code + 0x100);
  EXPECT_FALSE(reads(with(fde, 0))) << "the section's end";
  EXPECT_FALSE(reads(with(fde, 3)));
  EXPECT_FALSE(reads(with(fde, 0x7fff'ffff)));
  EXPECT_FALSE(reads(with(fde, 0xffff'ffff)));
  EXPECT_FALSE(reads(with(fde + 4, 0))) << "a CIE";
  EXPECT_FALSE(reads(with(fde + 4, 4))) << "an FDE's FDE";
  EXPECT_FALSE(reads(with(fde + 4, 0xffff'fff0)));
  EXPECT_FALSE(reads(with(0, 0)));
  EXPECT_FALSE(reads(with(0, 0xffff'ffff)));
  EXPECT_FALSE(reads(with(0, 5)));
  {
    const written_object o{e};
    EXPECT_FALSE(read_entry(o.bytes.whole(), o.bytes.data(), entry));
    EXPECT_FALSE(read_entry(o.bytes.whole(), o.bytes.data() + o.bytes.size(), entry));
    EXPECT_FALSE(read_entry(o.bytes.whole(), o.bytes.data() - 4, entry));
  }
  const auto reads_augmented = [&](dwarf_text letters, dwarf_text data) {
    written_entry changed = e;
    changed.augmentation = letters;
    changed.augmentation_data = data;
    return reads(written_object{changed});
  };
  EXPECT_TRUE(reads_augmented({'z', 'P', 'L', 'R', 0}, {0x9b, 1, 2, 3, 4, 0x1b, 0}));
  EXPECT_TRUE(reads_augmented({'z', 'R', 'S', 'B', 'G', 0}, {0}));
  EXPECT_TRUE(entry.of_signal);
  EXPECT_FALSE(reads_augmented({'z', 'R', 'x', 0}, {0})) << "unknown";
  EXPECT_FALSE(reads_augmented({'e', 'h', 0}, {0}));
  EXPECT_FALSE(reads_augmented({'z', 'R', 0}, {})) << "shorter than said";
  EXPECT_FALSE(reads_augmented({'z', 'P', 'R', 0}, {0x50, 0, 0, 0, 0, 0, 0, 0, 0, 0})) << "aligned";
  EXPECT_FALSE(reads_augmented({'z', 'R', 0}, {0x30})) << "relative to what is not known";
  EXPECT_FALSE(reads_augmented({'z', 'R', 0}, {0x80})) << "indirect";
  EXPECT_FALSE(reads_augmented({'z', 'R', 0}, {0x05}));
  for (const int version : {0, 2, 4}) {
    e.version = version;
    EXPECT_FALSE(reads(written_object{e}));
  }
  e.version = 3;
  EXPECT_TRUE(reads(written_object{e}));
  e.return_column = machine::registers;
  EXPECT_FALSE(reads(written_object{e}));
}

TEST_F(call_frames, pointers_may_be_relative_to_their_place) {
  e.augmentation_data = {0x1b};  // pcrel | sdata4
  written_object o{e};
  // Eight bytes before its own place, twelve long; what is left of the two absolute pointers are then instructions: nop.
  const std::size_t begin = o.entry + 8;
  for (std::size_t i = 0; i < 16; ++i) o.bytes.put(begin + i, std::byte{0});
  for (std::size_t i = 0; i < 4; ++i) o.bytes.put(begin + i, std::byte(i == 0 ? 0xf8 : 0xff));
  o.bytes.put(begin + 4, std::byte{12});
  call_frame_entry entry;
  ASSERT_TRUE(read_entry(o.bytes.whole(), o.at(), entry));
  EXPECT_EQ(entry.begin, address(o.at()));
  EXPECT_EQ(entry.end, entry.begin + 12);
  a.pc = entry.begin + 4;
  EXPECT_TRUE(to_caller(a, entry, memory));
}

// Cut short anywhere, with any byte changed, or all of them by chance: it ends. What it says then is of no interest.
TEST_F(call_frames, whatever_stands_there_it_ends) {
  const auto seed = std::random_device{}();
  RecordProperty("seed", int(seed));
  SCOPED_TRACE(seed);
  std::mt19937 random{seed};
  e.instructions = {advance_loc | 1,
                    def_cfa_offset,
                    48,
                    remember_state,
                    offset | int(kept),
                    2,
                    restore_state,
                    expression,
                    int(kept),
                    3,
                    breg0 + int(sp),
                    40,
                    deref,
                    val_offset,
                    int(kept),
                    2,
                    advance_loc2,
                    1,
                    0};
  const written_object whole{e};
  unsigned understood = 0;
  const auto look = [&](const written_object& o) {
    activation changing = a;
    call_frame_entry entry;
    understood += read_entry(o.bytes.whole(), o.at(), entry) && to_caller(changing, entry, memory);
  };
  look(whole);
  EXPECT_EQ(understood, 1u);
  for (std::size_t length = whole.entry; length < whole.bytes.size(); ++length) {
    written_object o = whole;
    o.bytes.cut(length);
    look(o);
  }
  EXPECT_EQ(understood, 1u) << "an entry that is not whole";
  for (std::size_t i = 0; i < whole.bytes.size(); ++i) {
    for (int b = 0; b < 256; ++b) {
      written_object o = whole;
      o.bytes.put(i, std::byte(b));
      look(o);
    }
  }
  EXPECT_GT(understood, 1u);
  for (int round = 0; round < 50'000; ++round) {
    written_entry by_chance = e;
    by_chance.instructions = {};
    for (unsigned i = random() % 40; i != 0; --i) by_chance.instructions.byte(int(random() & 0xff));
    look(written_object{by_chance});
  }
}

}  // namespace
}  // namespace polder::os
