#pragma once
// chunk_map — from any address to the record of its chunk.
//
//   paper      Kuszmaul 2015: a table indexed by the chunk number, address / 2 MiB
//   progress   find wait-free, two loads; store lock-free
//   in malloc  yes: leaves are mapped directly and never given back
//   covers     48 bits of address; the kernel maps nothing above for who does not ask
//   deviation  two levels, 64 KiB and 128 KiB for each 32 GiB that are used. One table is a gigabyte of address space,
//              which a limit on it, or strict accounting, refuses
#include <array>
#include <cstddef>
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/mem/zeroed.hpp>
#include <polder/sync/atomic.hpp>
#include <polder/sync/install_once.hpp>

namespace polder::heap::supermalloc {

struct chunk;

class chunk_map {
 public:
  static constexpr unsigned address_bits = 48;
  static constexpr unsigned chunk_shift = 21;
  static constexpr unsigned leaf_bits = 14;
  static constexpr unsigned root_bits = address_bits - chunk_shift - leaf_bits;

  // Bytes of zeroed memory, aligned to a cache line, at `root`; not touched before they are used.
  static constexpr std::size_t root_bytes = sizeof(void*) << root_bits;

  explicit chunk_map(std::byte* root) noexcept : root_(reinterpret_cast<atomic<leaf*>*>(root)) {}

  // Null where there is none.
  POLDER_ALWAYS_INLINE chunk* find(std::uintptr_t a) const noexcept {
    if (a >> address_bits != 0) return nullptr;
    const leaf* const l = root_[a >> (chunk_shift + leaf_bits)].load(order::acquire);  // sync: installed
    return l ? (*l)[index(a)].load(order::acquire) : nullptr;                          // sync: chunk-record
  }

  // False: no memory for a leaf, or beyond the map. Storing null never fails where a record was.
  bool store(std::uintptr_t a, chunk* k) noexcept {
    if (a >> address_bits != 0) return false;
    atomic<leaf*>& slot = root_[a >> (chunk_shift + leaf_bits)];
    leaf* const l = install_once(
        slot, [] { return mem::zeroed::make<leaf>(1); }, [](leaf* lost) { mem::zeroed::discard(lost, 1); });
    if (!l) return false;
    (*l)[index(a)].store(k, order::release);  // sync: chunk-record
    return true;
  }

  // Bytes of leaves.
  std::size_t bytes() const noexcept {
    std::size_t n = 0;
    for (std::size_t i = 0; i < std::size_t{1} << root_bits; ++i)
      n += root_[i].load(order::relaxed) ? sizeof(leaf) : 0;
    return n;
  }

 private:
  using leaf = std::array<atomic<chunk*>, std::size_t{1} << leaf_bits>;
  static std::size_t index(std::uintptr_t a) { return a >> chunk_shift & ((std::uintptr_t{1} << leaf_bits) - 1); }

  // root_ and the slots of leaves
  //   written by  who maps the first chunk of a leaf, by CAS; who makes or unmaps a chunk
  //   read by     anybody who looks an address up
  //   order       installed: the leaves. chunk-record: publishes the record's constant fields
  //   ABA         who finds a record had a block of that chunk, so it stays; or a stray address, and is told of it
  atomic<leaf*>* root_;
};

}  // namespace polder::heap::supermalloc
