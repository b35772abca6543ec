// Call frame information comes from the compiler, and from whoever wrote assembly. The input: a byte that says where in an object
// the entry lies, one that says where in the code a function stands, and the object. It ends, reads nothing but that and what
// the kernel says can be read, and leaves the registers alone where it did not understand.
#include <array>
#include <cstdlib>
#include <memory>

#include <polder/os/call_frames.hpp>

namespace {

using namespace polder::os;

void expect(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t length) {
  if (length < 2) return 0;
  // A copy, so that a byte beyond it is noticed.
  const std::size_t bytes = length - 2;
  const std::unique_ptr<std::byte[]> object{new std::byte[bytes]};
  std::memcpy(object.get(), data + 2, bytes);
  call_frame_entry entry;
  if (!read_entry({object.get(), bytes}, object.get() + data[0], entry)) return 0;

  alignas(16) std::array<std::uintptr_t, 64> stack;
  for (std::size_t i = 0; i < stack.size(); ++i) stack[i] = reinterpret_cast<std::uintptr_t>(&stack[i] + i % 8);
  activation a;
  a.value.fill(reinterpret_cast<std::uintptr_t>(&stack[32]));
  a.pc = entry.begin + data[1] / 2;
  a.is_exact = data[1] % 2 != 0;
  const activation before = a;
  readable_memory memory;
  if (to_caller(a, entry, memory)) {
    expect(a.pc != 0 && a.sp() % machine::stack_alignment == 0);
    expect(entry.of_signal || a.sp() > before.sp() || (before.is_exact && a.sp() == before.sp()));
  } else {
    expect(a.value == before.value && a.pc == before.pc && a.is_exact == before.is_exact);
  }
  return 0;
}
