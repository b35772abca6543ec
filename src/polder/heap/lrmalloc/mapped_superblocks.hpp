#pragma once
// mapped_superblocks — superblocks straight from the system, and straight back to it.
//
//   paper      Leite & Rocha 2018, sec. 3.2: mmap in CacheFillFromNewSB, munmap in CacheFlush
//   progress   lock-free but for the system calls: who loses a race gives its mapping back and takes of the winner's
//   in malloc  yes
//   deviation  up to 64 superblocks are mapped at once and taken one by one, since they must be aligned; they go back one by
//              one. Untouched ones cost address space only
//   invariant  a superblock of a batch is taken once
#include <cstddef>
#include <cstdint>

#include <polder/heap/lrmalloc/geometry.hpp>
#include <polder/os/pages.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::heap::lrmalloc {

class mapped_superblocks {
 public:
  explicit mapped_superblocks(bool huge_pages) noexcept : huge_pages_(huge_pages) {}

  // Null: the system refuses. What is there reads as zero.
  std::byte* take() noexcept {
    batch now = next_.load(order::relaxed);
    for (;;) {
      if (now.left() != 0) {
        if (next_.cas(now, now.without_first(), order::relaxed, order::relaxed)) return now.first();
        continue;
      }
      batch fresh;
      for (unsigned superblocks : {64u, 8u, 2u})
        if (fresh.left() == 0) fresh = map(superblocks);
      if (fresh.left() == 0) return nullptr;
      static_cast<void>(os::advise_huge_pages(fresh.first(), fresh.bytes(), huge_pages_));
      if (next_.cas(now, fresh.without_first(), order::relaxed, order::relaxed)) return fresh.first();
      if (!os::unmap(fresh.first(), fresh.bytes())) return fresh.first();  // the rest of it is lost
    }
  }

  // False: the system would not have it, and it stays the caller's.
  bool give(std::byte* superblock) noexcept { return os::unmap(superblock, superblock_size); }

  // Mapped, and not taken yet.
  std::size_t waiting_bytes() const noexcept { return next_.load(order::relaxed).bytes(); }

  // Until nobody else knows of it: the rest of the batch goes back.
  void end() noexcept {
    const batch rest = next_.load(order::relaxed);
    if (rest.left() != 0) os::unmap(rest.first(), rest.bytes());
  }

 private:
  class batch {  //  63                 16 15     0
   public:       //  ┌────────────────────┬────────┐
                 //  │ the first, aligned │  left  │   left: how many superblocks
                 //  └────────────────────┴────────┘
    batch() = default;
    batch(std::byte* first, std::size_t left) : bits_(address(first) | left) {}
    std::byte* first() const { return superblock_of(at_address(bits_)); }
    std::size_t left() const { return bits_ & (superblock_size - 1); }
    std::size_t bytes() const { return left() * superblock_size; }
    batch without_first() const { return {first() + superblock_size, left() - 1}; }

   private:
    std::uintptr_t bits_ = 0;
  };

  // The superblocks that fit into a mapping as long as `superblocks` of them: often all, since the kernel puts one mapping
  // below the other and one that was cut leaves the next aligned. What is left over goes back, or is lost.
  static batch map(unsigned superblocks) noexcept {
    const std::size_t bytes = superblocks * superblock_size;
    auto* const at = static_cast<std::byte*>(os::map(bytes));
    if (!at) return {};
    std::byte* const first = at_address(align_up(address(at), superblock_size));
    if (first == at) return {first, superblocks};
    const batch had(first, superblocks - 1);
    os::unmap(at, std::size_t(first - at));
    os::unmap(first + had.bytes(), superblock_size - std::size_t(first - at));
    return had;
  }

  bool huge_pages_;
  // next_ — what is left of the batch.
  //   written by  takers, by CAS
  //   order       relaxed: fresh memory has nothing to publish, and nothing is read through it
  //   ABA         harmless: the word is the whole state. If it is the same again, of a batch mapped there later, its first
  //                 superblock is as free as that one was
  atomic<batch> next_;
};

}  // namespace polder::heap::lrmalloc
