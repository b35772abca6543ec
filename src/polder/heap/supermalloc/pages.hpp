#pragma once
// pages — the folios of one class, below all caches: where blocks are bumped, and where they go when no cache has room.
//
//   paper      Kuszmaul 2015 (fullest folio first); Kim 2023, section 2.2.4 (bump allocation from the class's chunk)
//   progress   blocking: everything under the lock of the vault it lies in (levels.hpp)
//   in malloc  yes
//   invariant  every folio of the class is in exactly one place: never used (past `next_fresh`), clean or empty or partial
//              (in that list), or full (in none); taken - given == sum of `used` over the folios
//
// Which folio a block is taken from:  the fullest partial one ─▶ an empty one ─▶ a clean one ─▶ the next never used
// one ─▶ the first of a new slice, or of a new chunk once the class has had eight slices.
#include <cstddef>
#include <cstdint>

#include <polder/heap/supermalloc/block_list.hpp>
#include <polder/heap/supermalloc/chunk_source.hpp>
#include <polder/heap/supermalloc/fullest_first.hpp>
#include <polder/sync/glimpsed.hpp>

namespace polder::heap::supermalloc {

struct pages {
  fullest_first partial;
  folio_number empty;  // a list
  folio_number clean;  // a list
  std::uint32_t empties;
  std::uint32_t slices;  // that it has
  chunk* fresh;          // whose folios [next_fresh, end_fresh) were never used
  std::uint16_t next_fresh, end_fresh;

  // Blocks that came back to folios whose records cannot be trusted: in the child of a fork, the folios that a thread was
  // working on which the child does not have. They go out again first.
  block_list adrift;

  std::uint64_t taken, given;  // blocks
  glimpsed<std::size_t> held;  // bytes of folios that are not clean
  glimpsed<std::size_t> busy;  // bytes of folios with used blocks
  std::uint64_t discards;      // folios given back to the system
  std::uint64_t looks;         // of trims, at the region of a folio: for tests
};

// What is the same for the pages of all classes and homes.
class page_keeper {
 public:
  // `keep`: bytes of empty folios of a class whose memory stays.
  page_keeper(chunk_source& source, mem::secret s, std::size_t page, std::size_t keep, bool lazily) noexcept
      : source_(source), secret_(s), page_(page), keep_(keep), lazily_(lazily) {}

  // One block, wiped; null: the system refuses.
  mem::block* take_one(pages& p, unsigned c, unsigned home) noexcept;

  // Up to n blocks onto the list. Fewer: the system refuses.
  void take(pages& p, unsigned c, unsigned home, std::uint32_t n, block_list& into) noexcept;

  // A free block, with its key, back to its folio.
  void give(pages& p, unsigned c, chunk& k, mem::block* b) noexcept;

  // Memory of empty folios, chunks and slices without a used block, back to the system. Bytes.
  std::size_t trim(pages& p, unsigned c) noexcept;

  // Nothing of it can be trusted: leaves it alone for ever. In a child, which is alone.
  void forsake(pages& p, unsigned c, unsigned home) noexcept;

  // Traps where an invariant is broken.
  void validate(const pages& p, unsigned c, unsigned home) const noexcept;

 private:
  auto folios() const noexcept {
    return [this](folio_number n) -> folio& { return source_.folio_of(n); };
  }
  folio_number open(pages& p, unsigned c, unsigned home) noexcept;
  folio_number open_fresh(pages& p, unsigned c, unsigned home) noexcept;
  template <class Each>
  std::uint32_t take_from(pages& p, unsigned c, folio_number n, std::uint32_t wanted, Each&& each) noexcept;
  void set_used(pages& p, unsigned c, folio_number n, unsigned used) noexcept;
  bool discard(pages& p, unsigned c, folio_number n) noexcept;
  std::size_t give_regions(pages& p, unsigned c) noexcept;
  enum class giving : std::uint8_t { given, in_use, refused };
  giving give_region(pages& p, unsigned c, folio_number n, std::size_t& bytes) noexcept;

  chunk_source& source_;
  mem::secret secret_;
  std::size_t page_;
  std::size_t keep_;
  bool lazily_;
};

}  // namespace polder::heap::supermalloc
