#include <polder/base/align.hpp>
#include <polder/os/backtrace.hpp>
#include <polder/os/call_frame_index.hpp>
#include <polder/os/call_frames.hpp>
#include <polder/os/loaded_symbol.hpp>
#include <polder/os/readable_memory.hpp>
#include <polder/sync/atomic.hpp>

#include <dlfcn.h>
#include <link.h>
#include <ucontext.h>

#include <csignal>

namespace polder::os {
namespace {

using word = std::uintptr_t;

// Where the trace goes, but for the innermost `left_out`.
class found_frames {
 public:
  found_frames(void** frames, unsigned most, std::uint64_t left_out) noexcept
      : frames_(frames), most_(most), left_out_(left_out) {}

  bool is_full() const noexcept { return count_ == most_; }
  unsigned count() const noexcept { return count_; }

  void add(word pc) noexcept {
    if (left_out_ != 0) {
      --left_out_;
    } else {
      frames_[count_++] = at_address(pc);
    }
  }

 private:
  void** frames_;
  unsigned most_;
  unsigned count_ = 0;
  std::uint64_t left_out_;
};

// ---- what the C library knows ----------------------------------------------------------------------------------------

#if defined(DLFO_EH_SEGMENT_TYPE)
static_assert(DLFO_EH_SEGMENT_TYPE == PT_GNU_EH_FRAME, "dlfo_eh_frame is the table, .eh_frame_hdr");

using find_object = decltype(::_dl_find_object);

// Of the process, as the libraries are that it tells of. Written by prepare_backtraces, with the same value each time; read by
// each backtrace. Relaxed: the function it points to has been there from the beginning.
constinit atomic<find_object*> finder{nullptr};

void find_finder() noexcept {
  finder.store(reinterpret_cast<find_object*>(loaded_symbol("_dl_find_object")), order::relaxed);
}

class object_index {
 public:
  explicit operator bool() const noexcept { return find_ != nullptr; }

  // False: no object has code at `place`.
  bool find(word place) noexcept { return find_(at_address(place), &object_) == 0; }

  // Of the object found.
  bool entry(word place, call_frame_entry& e) const noexcept {
    const auto* const begin = static_cast<const std::byte*>(object_.dlfo_map_start);
    const auto* const end = static_cast<const std::byte*>(object_.dlfo_map_end);
    const auto* const header = static_cast<const std::byte*>(object_.dlfo_eh_frame);
    if (header == nullptr || header < begin || header >= end) return false;
    const std::span bytes{begin, end};
    const std::byte* const at = entry_before(bytes, header, place);
    return at != nullptr && read_entry(bytes, at, e);
  }

 private:
  find_object* find_ = finder.load(order::relaxed);
  dl_find_object object_;
};
#else  // before glibc 2.35, and other C libraries
void find_finder() noexcept {}

class object_index {
 public:
  explicit operator bool() const noexcept { return false; }
  bool find(word) noexcept { return false; }
  bool entry(word, call_frame_entry&) const noexcept { return false; }
};
#endif

// ---- from frame to frame ---------------------------------------------------------------------------------------------

// On AArch64 a signal's handler returns into two instructions of the kernel's that no call frame information tells of: mov
// x8, #__NR_rt_sigreturn; svc #0. Above the handler's frame lies what the kernel saved: struct rt_sigframe of its signal.c.
#if defined(__aarch64__)
bool returns_from_signal(const activation& a, readable_memory& memory) noexcept {
  word low = 0, high = 0;
  const word at = align_down(a.pc, sizeof(word));
  if (!memory.word(at, low)) return false;
  if (at == a.pc) return low == 0xd400'0001'd280'1168;
  return memory.word(at + sizeof(word), high) && low >> 32 == 0xd280'1168 && (high & 0xffff'ffff) == 0xd400'0001;
}

bool to_interrupted(activation& a, readable_memory& memory) noexcept {
  const word saved = a.sp() + sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext) + offsetof(mcontext_t, regs);
  activation next;
  for (unsigned i = 0; i < machine::registers; ++i) {  // and behind x30, sp
    if (!memory.word(saved + i * sizeof(word), next.value[i])) return false;
  }
  if (!memory.word(saved + machine::registers * sizeof(word), next.pc)) return false;
  next.is_exact = true;
  a = next;
  return true;
}
#else
bool returns_from_signal(const activation&, readable_memory&) noexcept { return false; }
bool to_interrupted(activation&, readable_memory&) noexcept { return false; }
#endif

void by_call_frames(activation a, object_index& objects, readable_memory& memory, found_frames& found) noexcept {
  call_frame_entry entry;
  while (!found.is_full()) {
    const bool is_placed = objects.find(a.place());
    const bool is_described = is_placed && objects.entry(a.place(), entry);
    const bool is_trampoline = !is_described && returns_from_signal(a, memory);
    if (!is_placed && !is_trampoline) return;  // no code: whatever led here was no call
    found.add(a.pc);
    if (is_trampoline ? !to_interrupted(a, memory) : !is_described || !to_caller(a, entry, memory)) return;
  }
}

// What calls keep, and where that is so.
[[gnu::always_inline]] inline void read_registers(activation& a) noexcept {
#if defined(__x86_64__)
  asm volatile(
      "movq %%rbx, 3*8(%1)\n\t"
      "movq %%rbp, 6*8(%1)\n\t"
      "movq %%rsp, 7*8(%1)\n\t"
      "movq %%r12, 12*8(%1)\n\t"
      "movq %%r13, 13*8(%1)\n\t"
      "movq %%r14, 14*8(%1)\n\t"
      "movq %%r15, 15*8(%1)\n\t"
      "leaq 0(%%rip), %0"
      : "=&r"(a.pc)
      : "r"(a.value.data())
      : "memory");
  a.value[16] = a.pc;
#elif defined(__aarch64__)
  asm volatile(
      "stp x19, x20, [%1, 19*8]\n\t"
      "stp x21, x22, [%1, 21*8]\n\t"
      "stp x23, x24, [%1, 23*8]\n\t"
      "stp x25, x26, [%1, 25*8]\n\t"
      "stp x27, x28, [%1, 27*8]\n\t"
      "stp x29, x30, [%1, 29*8]\n\t"
      "mov %0, sp\n\t"
      "str %0, [%1, 31*8]\n\t"
      "adr %0, ."
      : "=&r"(a.pc)
      : "r"(a.value.data())
      : "memory");
#endif
  a.is_exact = true;
}

}  // namespace

void prepare_backtraces() noexcept { find_finder(); }

unsigned backtrace(void** frames, unsigned most, unsigned skip) noexcept {
  if constexpr (!machine::is_unwound) return 0;
  object_index objects;
  if (objects) {
    readable_memory memory;
    activation here;
    read_registers(here);
    found_frames found{frames, most, std::uint64_t{skip} + 2};  // this function, and the caller
    by_call_frames(here, objects, memory, found);
    return found.count();
  }
  // The first record tells of the caller.
  return skip == ~0u ? 0 : backtrace_by_frame_pointers(__builtin_frame_address(0), frames, most, skip + 1);
}

unsigned backtrace_from(const activation& from, void** frames, unsigned most, unsigned skip) noexcept {
  readable_memory memory;
  object_index objects;
  found_frames found{frames, most, skip};
  if (objects) by_call_frames(from, objects, memory, found);
  return found.count();
}

// Both machines have it so: a caller's frame pointer, and behind it the return address.
unsigned backtrace_by_frame_pointers(const void* record, void** frames, unsigned most, unsigned skip) noexcept {
  readable_memory memory;
  found_frames found{frames, most, skip};
  word at = address(record), next, pc;
  while (!found.is_full() && memory.word(at, next) && memory.word(at + sizeof(word), pc) && pc != 0) {
    found.add(without_signature(pc));
    if (next <= at) break;
    at = next;
  }
  return found.count();
}

}  // namespace polder::os
