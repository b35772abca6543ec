#pragma once
// pages — what the heaps ask of the kernel's memory management, with a contract for every refusal.
//
//   in malloc  yes; each call is one system call
//   errors     a refusal is a return value (nullptr or false); errno is kept in every case
//
// All addresses and lengths are multiples of the page size the caller works with, which is the system's or a
// multiple of it.
#include <cstddef>

#include <polder/base/align.hpp>

namespace polder::os {

// Bytes; from the auxiliary vector, no system call.
std::size_t page_size() noexcept;

// Bytes of address space that mappings lie in whose place the system chooses, also where there is more for who asks for a place:
// nothing longer can be had.
#if defined(__x86_64__)
inline constexpr std::size_t most_mapped = std::size_t{1} << 47;
#elif defined(__aarch64__)
inline constexpr std::size_t most_mapped = std::size_t{1} << 48;
#else
inline constexpr std::size_t most_mapped = std::size_t{1} << 57;
#endif

// Of what is committed of it: little is touched, so that its length says nothing; or all may be, and the system may refuse what it
// could never find room for, as where vm.overcommit_memory is 0.
enum class use_of_reserved { sparse, whole };

// Address space only: not readable, not writable, not charged.
void* reserve(std::size_t bytes, use_of_reserved use = use_of_reserved::sparse) noexcept;

// Zeroed, readable and writable memory, charged when touched; refused as above where all of it could not be.
void* map(std::size_t bytes) noexcept;

// The same at `place`, if nothing is there, or wherever the system likes.
void* map_near(void* place, std::size_t bytes) noexcept;

// Makes reserved memory readable and writable. Doing it twice is harmless. False: nothing is lost, the range is as it was.
bool commit(void* p, std::size_t bytes) noexcept;

// Gives the range back to the system. False: it is still mapped (the kernel could not split a mapping, say).
bool unmap(void* p, std::size_t bytes) noexcept;

// Reserves at a multiple of `alignment`, a power of two: more than that, and gives the ends back. False in `cut`: they were not all
// taken, and stay reserved.
inline void* reserve_at_multiple(std::size_t bytes, std::size_t alignment, bool& cut,
                                 use_of_reserved use = use_of_reserved::sparse) noexcept {
  const std::size_t wide = bytes + alignment;
  cut = true;
  auto* const all = wide < bytes ? nullptr : static_cast<std::byte*>(reserve(wide, use));
  if (!all) return nullptr;
  std::byte* const p = at_address(align_up(address(all), alignment));
  const auto before = std::size_t(p - all);
  if (before != 0) cut = unmap(all, before);
  cut &= unmap(p + bytes, alignment - before);
  return p;
}

// Grows or shrinks a mapping where it is; false: it is as it was.
bool resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept;

enum class moved { there, refused, lost };

// Moves a mapping's pages to `to`, and may make it longer, never shorter; what the caller has at `to` is replaced, what was at
// `from` is unmapped. refused: the pages are where they were, and so is all at `to`, of which the first page can be read and
// written now. lost: the pages are where they were, but the kernel gave up what was at `to` before it refused: whatever is there
// by now is another thread's.
moved move(void* from, std::size_t old_bytes, void* to, std::size_t new_bytes) noexcept;

// The same to wherever the system likes, where it is perhaps: that takes no more address space than the mapping grows by. What was
// at `from` may be another thread's when this returns. Null: nothing changed.
void* move_anywhere(void* from, std::size_t old_bytes, std::size_t new_bytes) noexcept;

enum class discarded { zeroed, lazily, refused };

// Drops the contents. zeroed: reads as zero from now on; lazily: the kernel takes the pages when it needs them, so
// the contents are undefined; refused: nothing happened (locked memory).
discarded discard_now(void* p, std::size_t bytes) noexcept;
discarded discard_lazily(void* p, std::size_t bytes) noexcept;

// Makes the range inaccessible and drops its contents without a mapping of its own (MADV_GUARD_INSTALL, Linux 6.13), and
// accessible again, zeroed. False: not supported, or the memory is locked; nothing changed.
bool install_guard(void* p, std::size_t bytes) noexcept;
bool remove_guard(void* p, std::size_t bytes) noexcept;

// Whether the four bytes at p can be read and are zero: the kernel looks, so that others may write there, protect or unmap it
// meanwhile. False also where a filter refuses the call.
bool reads_as_zero(const void* p) noexcept;

// Makes the range inaccessible; it keeps its contents. commit() undoes it. False: nothing changed (too many mappings).
bool deny(void* p, std::size_t bytes) noexcept;

// Faults the range in at once, for writing. False: not supported or not enough memory; touching it works as ever.
bool populate(void* p, std::size_t bytes) noexcept;

// Asks for, or against, transparent huge pages in the range. False: the kernel has none.
bool advise_huge_pages(void* p, std::size_t bytes, bool wanted) noexcept;

// Whether the range is written into core dumps; at first it is, even where there is no access. False: no change.
bool keep_in_core_dumps(void* p, std::size_t bytes, bool wanted) noexcept;

// What /proc/PID/maps and debuggers call the range: [anon:NAME]. False: the kernel has no such names, or not for these pages.
bool name(void* p, std::size_t bytes, const char* what) noexcept;

// Bytes of memory that the machine has, whoever uses them. 0: the system does not say.
std::size_t physical_memory() noexcept;

// RLIMIT_AS in bytes, SIZE_MAX when there is none.
std::size_t address_space_limit() noexcept;

// RLIMIT_DATA in bytes, which counts what is writable; SIZE_MAX when there is none.
std::size_t data_limit() noexcept;

}  // namespace polder::os
