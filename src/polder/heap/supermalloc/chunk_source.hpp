#pragma once
// chunk_source — where chunks and slices come from, and who finds them again.
//
//   progress   find wait-free; the rest blocking: one lock, held for a few words, never over a system call
//   in malloc  yes
//   errors     a refusal is null; nothing is lost
#include <cstddef>
#include <cstdint>

#include <polder/heap/options.hpp>
#include <polder/heap/supermalloc/chunk.hpp>
#include <polder/heap/supermalloc/chunk_map.hpp>
#include <polder/mem/record_table.hpp>
#include <polder/os/futex.hpp>

namespace polder::heap::supermalloc {

// Folios in a row, never used: places [first, end) of a chunk. Null: none.
struct region {
  chunk* of = nullptr;
  unsigned first = 0;
  unsigned end = 0;
};

class chunk_source {
 public:
  static constexpr unsigned most_homes = 64;

 private:
  using records = mem::record_table<chunk, 16, 1u << 16>;

 public:
  // Bytes of zeroed memory, aligned to a cache line; not touched before they are used.
  static constexpr std::size_t directory_bytes = chunk_map::root_bytes + records::directory_bytes;

  // `homes` > 1: chunks are placed on node `home`.
  chunk_source(std::byte* directory, thp_policy thp, unsigned homes) noexcept
      : map_(directory), chunks_(directory + chunk_map::root_bytes), thp_(thp), homes_(homes) {}

  POLDER_ALWAYS_INLINE chunk* find(std::uintptr_t a) const noexcept { return map_.find(a); }
  chunk& chunk_of(folio_number n) const noexcept { return chunks_.at(n / folios_per_chunk); }
  folio& folio_of(folio_number n) const noexcept { return chunk_of(n).folios[n % folios_per_chunk]; }

  region take_chunk(unsigned c, unsigned home) noexcept;
  region take_slice(unsigned c, unsigned home) noexcept;  // for classes whose folios fit

  // Back to the system, or to who needs a slice; none of its folios is in a list. False: refused, and all is as it was.
  bool give_chunk(chunk& k) noexcept;
  bool give_slice(chunk& k, unsigned slice) noexcept;

  template <class F>
  void for_each(F&& f) const {
    for (std::uint32_t n = 1; n <= chunks_.made(); ++n)
      if (chunks_.at(n).base != nullptr) f(chunks_.at(n));
  }

  std::size_t mapped_bytes() const noexcept { return live_.load(order::relaxed) * chunk_bytes; }
  std::size_t record_bytes() const noexcept { return chunks_.bytes() + map_.bytes(); }

  // Its fields may be torn: what they list is left alone for ever. In a child, which is alone.
  void forsake() noexcept;

  owned_lock lock;

 private:
  chunk* make(unsigned home, std::uint32_t region_mask, unsigned c) noexcept;
  region next_slice(unsigned c, unsigned home, chunk* fresh) noexcept;

  chunk_map map_;
  records chunks_;
  thp_policy thp_;
  unsigned homes_;
  // First ones of lists.
  std::uint32_t spare_numbers_ = 0;        // of records without memory
  std::uint32_t shared_[most_homes] = {};  // of each home, all shared chunks
  atomic<std::size_t> live_;               // chunks mapped; relaxed: for statistics
  atomic<std::byte*> last_;                // chunk mapped last; relaxed: a place to ask for
};

}  // namespace polder::heap::supermalloc
