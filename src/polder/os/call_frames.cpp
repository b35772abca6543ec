#include <polder/base/align.hpp>
#include <polder/os/call_frames.hpp>

#include <array>

namespace polder::os {
namespace {

using word = std::uintptr_t;

// ---- entries -------------------------------------------------------------------------------------------------------

// The record that begins so far into the object: its length, and what follows. 0 ends the section; 64-bit lengths (0xffffffff)
// nobody writes.
dwarf_bytes record(std::span<const std::byte> object, word offset) noexcept {
  if (offset >= object.size()) return {};
  dwarf_bytes rest{object.data() + offset, object.data() + object.size()};
  const auto length = rest.fixed<std::uint32_t>();
  return length == 0xffff'ffff ? dwarf_bytes{} : rest.part(length);
}

bool read_common(dwarf_bytes bytes, call_frame_entry& entry, bool& has_length) noexcept {
  if (bytes.fixed<std::uint32_t>() != 0) return false;  // an FDE
  const std::uint8_t version = bytes.byte();
  if (version != 1 && version != 3) return false;
  dwarf_bytes letters = bytes;
  while (bytes.byte() != 0) {
  }
  entry.code_unit = bytes.unsigned_leb();
  entry.data_unit = bytes.signed_leb();
  const std::uint64_t column = version == 1 ? bytes.byte() : bytes.unsigned_leb();
  if (!bytes.good() || column >= machine::registers) return false;
  entry.return_column = unsigned(column);

  std::uint8_t letter = letters.byte();
  has_length = letter == 'z';
  if (!has_length) {
    entry.common_instructions = bytes;
    return letter == 0;
  }
  dwarf_bytes augmentation = bytes.block();
  while ((letter = letters.byte()) != 0) {
    switch (letter) {
      case 'R': entry.encoding = augmentation.byte(); break;
      case 'S': entry.of_signal = true; break;
      case 'L': augmentation.byte(); break;  // how the language's data is pointed to
      case 'P': {                            // the language's routine
        const std::uint8_t encoding = augmentation.byte();
        augmentation.number(encoding & 0x0f);
        if ((encoding & 0x70) == 0x50) return false;  // DW_EH_PE_aligned
        break;
      }
      case 'B':  // AArch64: signed with the other key
      case 'G':  // AArch64: memory of the stack is tagged
        break;
      default: return false;
    }
  }
  entry.common_instructions = bytes;
  return bytes.good() && augmentation.good();
}

// ---- rules ---------------------------------------------------------------------------------------------------------

enum class how : std::uint8_t {
  same,           // as in the function itself; also where nothing is said
  undefined,      // lost
  saved,          // in memory at CFA + n
  offset,         // CFA + n
  in_register,    // in register n
  saved_where,    // in memory where the expression says
  as_calculated,  // as the expression says
};

struct rule {
  how is;
  std::int32_t n;  // of an expression: where its block lies in the object
};

// A row of the table: how to find, at one place in the code, the canonical frame address (CFA: what the stack pointer was
// before the call) and the caller's registers.
struct row {
  std::array<rule, machine::registers> of;
  rule cfa;  // offset: from the register; as_calculated; or else not known
  unsigned cfa_register;
};

class table {
 public:
  table(const activation& a, const call_frame_entry& entry, readable_memory& memory) noexcept
      : a_(a), entry_(entry), memory_(memory) {}

  bool find_row() noexcept {
    return run(entry_.common_instructions) && (initial_ = row_, run(entry_.instructions)) &&
           row_.cfa.is != how::same;
  }

  bool cfa(word& value) noexcept {
    if (row_.cfa.is == how::as_calculated) return calculate(row_.cfa.n, nullptr, value);
    value = a_.value[row_.cfa_register] + word(std::intptr_t{row_.cfa.n});
    return true;
  }

  bool caller(unsigned column, word cfa, word& value) noexcept {
    const rule r = row_.of[column];
    switch (r.is) {
      case how::same:
        value = column == machine::stack_pointer ? cfa : a_.value[column];
        return column != entry_.return_column ||
               (machine::has_link_register && a_.is_exact);  // a call overwrote it
      case how::undefined: value = 0; return column != entry_.return_column;
      case how::saved: return memory_.word(cfa + word(std::intptr_t{r.n}), value);
      case how::offset: value = cfa + word(std::intptr_t{r.n}); return true;
      case how::in_register: value = a_.value[unsigned(r.n)]; return true;
      case how::saved_where: return calculate(r.n, &cfa, value) && memory_.word(value, value);
      case how::as_calculated: return calculate(r.n, &cfa, value);
    }
    return false;
  }

 private:
  // Runs instructions up to the row of the activation's place: 6.4.2. False: one of them is not known.
  bool run(dwarf_bytes code) noexcept {
    while (!code.at_end() && !arrived_) {
      if (!step(code) || !code.good()) return false;
    }
    return code.good();
  }

  bool step(dwarf_bytes& code) noexcept {
    const std::uint8_t instruction = code.byte();
    const unsigned low = instruction & 0x3f;
    switch (instruction & 0xc0) {
      case 0x40: return advance(low);                                                          // DW_CFA_advance_loc
      case 0x80: return set(low, how::saved, factored(code.unsigned_leb()));                   // DW_CFA_offset
      case 0xc0: return low >= machine::registers || (row_.of[low] = initial_.of[low], true);  // DW_CFA_restore
    }
    switch (instruction) {
      case 0x00: return true;                                  // DW_CFA_nop
      case 0x01: return go(code.pointer(entry_.encoding));     // DW_CFA_set_loc
      case 0x02: return advance(code.byte());                  // DW_CFA_advance_loc1
      case 0x03: return advance(code.fixed<std::uint16_t>());  // DW_CFA_advance_loc2
      case 0x04: return advance(code.fixed<std::uint32_t>());  // DW_CFA_advance_loc4
      case 0x05: return set(code, how::saved);                 // DW_CFA_offset_extended
      case 0x06: {                                             // DW_CFA_restore_extended
        const std::uint64_t column = code.unsigned_leb();
        if (column < machine::registers) row_.of[column] = initial_.of[column];
        return true;
      }
      case 0x07: return set(code.unsigned_leb(), how::undefined, 0);  // DW_CFA_undefined
      case 0x08: return set(code.unsigned_leb(), how::same, 0);       // DW_CFA_same_value
      case 0x09: {                                                    // DW_CFA_register
        const std::uint64_t column = code.unsigned_leb();
        const std::uint64_t other = code.unsigned_leb();
        return other < machine::registers && set(column, how::in_register, std::int64_t(other));
      }
      case 0x0a: return remember();
      case 0x0b: return recall();
      case 0x0c: {  // DW_CFA_def_cfa
        const std::uint64_t base = code.unsigned_leb();
        return cfa_from(base) && cfa_at(std::int64_t(code.unsigned_leb()));
      }
      case 0x0d: return row_.cfa.is == how::offset && cfa_from(code.unsigned_leb());  // DW_CFA_def_cfa_register
      case 0x0e:                                                                      // DW_CFA_def_cfa_offset
        return row_.cfa.is == how::offset && cfa_at(std::int64_t(code.unsigned_leb()));
      case 0x0f: {  // DW_CFA_def_cfa_expression
        const std::int64_t where = position(code);
        code.block();
        return where == std::int32_t(where) && (row_.cfa = {how::as_calculated, std::int32_t(where)}, true);
      }
      case 0x10: return set_expression(code, how::saved_where);  // DW_CFA_expression
      case 0x11: return set_signed(code, how::saved);            // DW_CFA_offset_extended_sf
      case 0x12: {                                               // DW_CFA_def_cfa_sf
        const std::uint64_t base = code.unsigned_leb();
        return cfa_from(base) && cfa_at(factored(std::uint64_t(code.signed_leb())));
      }
      case 0x13:  // DW_CFA_def_cfa_offset_sf
        return row_.cfa.is == how::offset && cfa_at(factored(std::uint64_t(code.signed_leb())));
      case 0x14: return set(code, how::offset);                    // DW_CFA_val_offset
      case 0x15: return set_signed(code, how::offset);             // DW_CFA_val_offset_sf
      case 0x16: return set_expression(code, how::as_calculated);  // DW_CFA_val_expression
      case 0x2d: return machine::has_link_register;  // DW_CFA_AARCH64_negate_ra_state: signed or not, see below
      case 0x2e: code.unsigned_leb(); return true;   // DW_CFA_GNU_args_size: of use to exceptions only
      case 0x2f: {                                   // DW_CFA_GNU_negative_offset_extended
        const std::uint64_t column = code.unsigned_leb();
        return set(column, how::saved, factored(0 - code.unsigned_leb()));
      }
      default: return false;
    }
  }

  bool advance(std::uint64_t units) noexcept { return go(location_ + units * entry_.code_unit); }

  bool go(word location) noexcept {
    if (location < location_) return false;
    if (location > a_.place()) {
      arrived_ = true;
    } else {
      location_ = location;
    }
    return true;
  }

  // Offsets count units of the stack. A product that wraps is nonsense, and does no harm.
  std::int64_t factored(std::uint64_t units) const noexcept {
    return std::int64_t(units * std::uint64_t(entry_.data_unit));
  }

  // Of registers that are not followed, such as those of vectors, the rule is passed over.
  bool set(std::uint64_t column, how is, std::int64_t n) noexcept {
    if (column >= machine::registers) return true;
    row_.of[column] = {is, std::int32_t(n)};
    return n == std::int32_t(n);
  }

  bool set(dwarf_bytes& code, how is) noexcept {
    const std::uint64_t column = code.unsigned_leb();
    return set(column, is, factored(code.unsigned_leb()));
  }

  bool set_signed(dwarf_bytes& code, how is) noexcept {
    const std::uint64_t column = code.unsigned_leb();
    return set(column, is, factored(std::uint64_t(code.signed_leb())));
  }

  bool set_expression(dwarf_bytes& code, how is) noexcept {
    const std::uint64_t column = code.unsigned_leb();
    const std::int64_t where = position(code);
    code.block();
    return set(column, is, where);
  }

  std::int64_t position(const dwarf_bytes& code) const noexcept { return code.at() - entry_.object.data(); }

  bool cfa_from(std::uint64_t base) noexcept {
    row_.cfa_register = unsigned(base);
    return base < machine::registers;
  }

  bool cfa_at(std::int64_t n) noexcept {
    row_.cfa = {how::offset, std::int32_t(n)};
    return n == std::int32_t(n);
  }

  bool remember() noexcept {  // DW_CFA_remember_state
    if (remembered_ == remember_.size()) return false;
    remember_[remembered_++] = row_;
    return true;
  }

  bool recall() noexcept {  // DW_CFA_restore_state
    if (remembered_ == 0) return false;
    row_ = remember_[--remembered_];
    return true;
  }

  // ---- expressions: 2.5.1 ------------------------------------------------------------------------------------------

  class stack {
   public:
    bool good() const noexcept { return good_; }
    void push(word value) noexcept {
      if (depth_ == words_.size()) return void(good_ = false);
      words_[depth_++] = value;
    }
    word pop() noexcept {
      if (depth_ == 0) return good_ = false, 0;
      return words_[--depth_];
    }
    // The one that lies below `above` others.
    word peek(unsigned above) noexcept {
      if (above >= depth_) return good_ = false, 0;
      return words_[depth_ - 1 - above];
    }

   private:
    std::array<word, 16> words_;
    unsigned depth_ = 0;
    bool good_ = true;
  };

  // `first`, if not null, lies on the stack at the beginning.
  bool calculate(std::int32_t where, const word* first, word& value) noexcept {
    const std::byte* const end = entry_.object.data() + entry_.object.size();
    dwarf_bytes code = dwarf_bytes{entry_.object.data() + where, end}.block();
    stack s;
    if (first != nullptr) s.push(*first);
    while (!code.at_end()) {
      if (!operate(code, s) || !s.good() || !code.good()) return false;
    }
    value = s.pop();
    return s.good();
  }

  bool operate(dwarf_bytes& code, stack& s) noexcept {
    const std::uint8_t operation = code.byte();
    if (operation >= 0x30 && operation <= 0x4f) return s.push(operation - 0x30u), true;  // DW_OP_lit0 …
    if (operation >= 0x70 && operation <= 0x8f) {                                        // DW_OP_breg0 …
      const unsigned base = operation - 0x70u;
      if (base >= machine::registers) return false;
      return s.push(a_.value[base] + word(code.signed_leb())), true;
    }
    switch (operation) {
      case 0x06: {  // DW_OP_deref
        word value = 0;
        return memory_.word(s.pop(), value) && (s.push(value), true);
      }
      case 0x08: return s.push(code.byte()), true;                       // DW_OP_const1u
      case 0x09: return s.push(word(code.fixed<std::int8_t>())), true;   // DW_OP_const1s
      case 0x0a: return s.push(code.fixed<std::uint16_t>()), true;       // DW_OP_const2u
      case 0x0b: return s.push(word(code.fixed<std::int16_t>())), true;  // DW_OP_const2s
      case 0x0c: return s.push(code.fixed<std::uint32_t>()), true;       // DW_OP_const4u
      case 0x0d: return s.push(word(code.fixed<std::int32_t>())), true;  // DW_OP_const4s
      case 0x0e:
      case 0x0f: return s.push(code.fixed<std::uint64_t>()), true;    // DW_OP_const8u, const8s
      case 0x10: return s.push(code.unsigned_leb()), true;            // DW_OP_constu
      case 0x11: return s.push(word(code.signed_leb())), true;        // DW_OP_consts
      case 0x12: return s.push(s.peek(0)), true;                      // DW_OP_dup
      case 0x13: return s.pop(), true;                                // DW_OP_drop
      case 0x14: return s.push(s.peek(1)), true;                      // DW_OP_over
      case 0x15: return s.push(s.peek(code.byte())), true;            // DW_OP_pick
      case 0x1f: return s.push(0 - s.pop()), true;                    // DW_OP_neg
      case 0x20: return s.push(~s.pop()), true;                       // DW_OP_not
      case 0x23: return s.push(s.pop() + code.unsigned_leb()), true;  // DW_OP_plus_uconst
      case 0x92: {                                                    // DW_OP_bregx
        const std::uint64_t base = code.unsigned_leb();
        if (base >= machine::registers) return false;
        return s.push(a_.value[base] + word(code.signed_leb())), true;
      }
      case 0x96: return true;  // DW_OP_nop
    }
    const word b = s.pop();
    const word a = s.pop();
    const auto signed_a = std::intptr_t(a), signed_b = std::intptr_t(b);
    switch (operation) {
      case 0x16: return s.push(b), s.push(a), true;                         // DW_OP_swap
      case 0x1a: return s.push(a & b), true;                                // DW_OP_and
      case 0x1c: return s.push(a - b), true;                                // DW_OP_minus
      case 0x1e: return s.push(a * b), true;                                // DW_OP_mul
      case 0x21: return s.push(a | b), true;                                // DW_OP_or
      case 0x22: return s.push(a + b), true;                                // DW_OP_plus
      case 0x24: return s.push(b < 64 ? a << b : 0), true;                  // DW_OP_shl
      case 0x25: return s.push(b < 64 ? a >> b : 0), true;                  // DW_OP_shr
      case 0x26: return s.push(word(signed_a >> (b < 64 ? b : 63))), true;  // DW_OP_shra
      case 0x27: return s.push(a ^ b), true;                                // DW_OP_xor
      case 0x29: return s.push(a == b), true;                               // DW_OP_eq
      case 0x2a: return s.push(signed_a >= signed_b), true;                 // DW_OP_ge
      case 0x2b: return s.push(signed_a > signed_b), true;                  // DW_OP_gt
      case 0x2c: return s.push(signed_a <= signed_b), true;                 // DW_OP_le
      case 0x2d: return s.push(signed_a < signed_b), true;                  // DW_OP_lt
      case 0x2e: return s.push(a != b), true;                               // DW_OP_ne
      default: return false;
    }
  }

  const activation& a_;
  const call_frame_entry& entry_;
  readable_memory& memory_;
  word location_ = entry_.begin;
  bool arrived_ = false;
  row row_{};
  row initial_;
  std::array<row, 4> remember_;
  unsigned remembered_ = 0;
};

}  // namespace

bool read_entry(std::span<const std::byte> object, const std::byte* at, call_frame_entry& entry) noexcept {
  entry = {};
  entry.object = object;
  dwarf_bytes bytes = record(object, address(at) - address(object.data()));
  const word here = address(bytes.at()) - address(object.data());
  const auto back = bytes.fixed<std::uint32_t>();  // to the CIE; 0 is one itself
  if (!bytes.good() || back == 0) return false;
  bool has_length = false;
  if (!read_common(record(object, here - back), entry, has_length)) return false;
  entry.begin = bytes.pointer(entry.encoding);
  entry.end = entry.begin + bytes.number(entry.encoding & 0x0f);
  if (has_length) bytes.block();
  entry.instructions = bytes;
  return bytes.good();
}

bool to_caller(activation& a, const call_frame_entry& entry, readable_memory& memory) noexcept {
  if (a.place() < entry.begin || a.place() >= entry.end) return false;
  table t{a, entry, memory};
  activation next;
  word cfa;
  if (!t.find_row() || !t.cfa(cfa)) return false;
  for (unsigned column = 0; column < machine::registers; ++column) {
    if (!t.caller(column, cfa, next.value[column])) return false;
  }
  // Whether it is signed need not be known: to take a signature away from where there is none changes nothing.
  next.pc = without_signature(next.value[entry.return_column]);
  next.is_exact = entry.of_signal;
  // A stack grows down, so a caller's part of it lies above; a function that a signal stopped may not have used any yet. A
  // signal's handler may have a stack of its own, anywhere.
  if (!entry.of_signal && (next.sp() < a.sp() || (next.sp() == a.sp() && !a.is_exact))) return false;
  if (!is_aligned(next.sp(), machine::stack_alignment) || next.pc == 0) return false;
  a = next;
  return true;
}

}  // namespace polder::os
