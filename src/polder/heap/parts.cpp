#include <polder/heap/parts.hpp>

namespace polder::heap {

void report_free(const void* p, block_info b, std::size_t block_size, bool free, const char* remark) noexcept {
  if (!b.within)
    mem::report(mem::misuse::foreign_pointer, p, {.remark = remark ? remark : "not memory of this heap"});
  if (b.cls == 0)
    mem::report(is_aligned(address(p), min_alignment) ? mem::misuse::invalid_free : mem::misuse::misaligned_free, p,
                {.remark = remark ? remark : "nothing is allocated there; a double free, or a stray pointer"});
  mem::report(free ? mem::misuse::double_free : mem::misuse::misaligned_free, p,
              {.block_size = block_size, .span = b.span, .cls = b.cls, .owner = b.owner, .remark = remark});
}

}  // namespace polder::heap
