#include <polder/mem/misuse.hpp>
#include <polder/os/print.hpp>

#include <cstdlib>

namespace polder::mem {
namespace {

const char* name(misuse kind) {
  switch (kind) {
    case misuse::double_free: return "double free of ";
    case misuse::invalid_free: return "invalid free of ";
    case misuse::misaligned_free: return "misaligned free of ";
    case misuse::foreign_pointer: return "free of a foreign pointer ";
    case misuse::corrupted: return "corrupted free block ";
    case misuse::size_mismatch: return "size mismatch in the free of ";
  }
  return "misuse of ";
}

}  // namespace

void report(misuse kind, const void* p, const misuse_place& where) noexcept {
  {
    os::line line;
    line << "polder: " << name(kind) << p;
    if (where.block_size != 0)
      line << ": block of " << where.block_size << " bytes in span " << where.span << " (class " << where.cls
           << ", owner " << where.owner << ")";
    if (where.remark) line << ": " << where.remark;
  }
  std::abort();
}

}  // namespace polder::mem
