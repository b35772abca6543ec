#pragma once
// page_tree — the page map as a lock-free radix tree: from any address to a word, a page of 4 KiB at a time.
//
//   paper      Leite & Rocha 2018, sec. 3.3: the cheaper of its two page maps in address space, at some cost in time
//   progress   find wait-free; row lock-free (a node that loses the race to be installed is given back)
//   in malloc  yes: nodes are mapped directly and never given back
//   covers     48 bits of address: three levels of 12 bits over pages of 12
//   invariant  a word is 0 exactly while no block begins in its page, or lies across it
//
// A word is the address of a descriptor with the class of its blocks in the low bits.
#include <array>
#include <cstddef>
#include <cstdint>

#include <polder/heap/lrmalloc/descriptor.hpp>
#include <polder/heap/lrmalloc/geometry.hpp>
#include <polder/mem/zeroed.hpp>
#include <polder/sync/atomic.hpp>
#include <polder/sync/install_once.hpp>

namespace polder::heap::lrmalloc {

class page_word {
 public:
  page_word() = default;  // nothing
  page_word(descriptor* d, unsigned cls) : bits_(address(d) | cls) {}
  POLDER_ALWAYS_INLINE unsigned cls() const { return unsigned(bits_ & class_mask); }
  POLDER_ALWAYS_INLINE descriptor* record() const { return reinterpret_cast<descriptor*>(bits_ & ~class_mask); }
  explicit operator bool() const { return bits_ != 0; }

  friend bool operator==(page_word, page_word) = default;

 private:
  static constexpr std::uintptr_t class_mask = alignof(descriptor) - 1;
  static_assert(size_classes::count <= class_mask);
  std::uintptr_t bits_ = 0;
};

// The words of one superblock's pages, in a row.
using page_row = atomic<page_word>*;

inline constexpr unsigned map_address_bits = 48;

class page_tree {
 public:
  bool begin() noexcept { return install(root_) != nullptr; }
  void end() noexcept {
    if (top* const t = root_.load(order::relaxed)) mem::zeroed::discard(t, 1);
  }

  POLDER_ALWAYS_INLINE page_word find(const void* p) const noexcept {
    const std::uintptr_t a = address(p);
    const top* const t = root_.load(order::acquire);  // sync: installed
    if (!t || a >> map_address_bits != 0) return {};
    const middle* const m = (*t)[index(a, 24)].load(order::acquire);  // sync: installed
    if (!m) return {};
    const leaf* const f = (*m)[index(a, 12)].load(order::acquire);  // sync: installed
    return f ? (*f)[index(a, 0)].load(order::relaxed) : page_word{};
  }

  // Where the words of `superblock` are, from now on for ever; null: no memory for a node, or beyond the map.
  page_row row(const std::byte* superblock) noexcept {
    const std::uintptr_t a = address(superblock);
    if (a >> map_address_bits != 0) return nullptr;
    top* const t = install(root_);
    middle* const m = t ? install((*t)[index(a, 24)]) : nullptr;
    leaf* const f = m ? install((*m)[index(a, 12)]) : nullptr;
    return f ? &(*f)[index(a, 0)] : nullptr;
  }

  // Address space taken, and what of it may be written.
  std::size_t reserved_bytes() const noexcept { return nodes_.load(order::relaxed) * node_bytes(); }
  std::size_t mapped_bytes() const noexcept { return reserved_bytes(); }

 private:
  static constexpr unsigned fan_out = 1u << 12;
  using leaf = std::array<atomic<page_word>, fan_out>;
  using middle = std::array<atomic<leaf*>, fan_out>;
  using top = std::array<atomic<middle*>, fan_out>;
  static_assert(sizeof(leaf) == sizeof(top) && sizeof(middle) == sizeof(top));

  static unsigned index(std::uintptr_t a, unsigned shift) { return a >> (page_shift + shift) & (fan_out - 1); }
  static std::size_t node_bytes() noexcept { return mem::zeroed::bytes<top>(1); }

  template <class Node>
  Node* install(atomic<Node*>& slot) noexcept {
    return install_once(
        slot,
        [this] {
          Node* const fresh = mem::zeroed::make<Node>(1);
          if (fresh) nodes_.fetch_add(1, order::relaxed);
          return fresh;
        },
        [this](Node* lost) {
          nodes_.fetch_sub(1, order::relaxed);
          mem::zeroed::discard(lost, 1);
        });
  }

  // root_, and every slot below it down to the words
  //   written by  slots: whoever needs the node first, by CAS; never cleared. Words: who threads the page's blocks, and
  //               who releases the superblock
  //   read by     anyone who looks a pointer up
  //   order       installed: the nodes
  //               Words: relaxed. Whoever reads one for a block that it has comes after the fill that made the block,
  //               and so after the word and the descriptor; of any other address nothing is read but the word
  //   ABA         a slot changes once. A word may come back: who reads it does so for a block that is not free, and
  //               then it does not change
  atomic<top*> root_;
  atomic<std::size_t> nodes_;
};

}  // namespace polder::heap::lrmalloc
