#pragma once
// block_list — what one thread put and others may take: a list of blocks of up to 64 elements, each with a word that says which
// are taken.
//
//   paper      Sundell, Gidenstam, Papatriantafilou and Tsigas, "A lock-free algorithm for concurrent bags", SPAA 2011
//   progress   insert wait-free but for the allocator; remove lock-free: it repeats only when another took
//   in malloc  no: a put that finds its block full allocates
//   deviation  blocks leave at the old end only, where takers work, so no block is unlinked from the middle and none needs
//              marks. A bit in a word is claimed where there a pointer is exchanged for null. Puts are counted where there
//              each put sets a bit for every thief, so emptiness is found as in parts/exact_scan.hpp
//
// A block is linked empty, then it is the owner's last one, then it has its first element, and takers do not leave the one before
// earlier: so in the child of a fork who goes on for an owner that was cut off in between never has a last block that is gone.
//
//     room ──insert [owner]──▶ filled ──its bit in taken [whoever takes: move it out]──▶ taken
//     block: last ──one put more than it holds──▶ followed ──all taken: first_ moves on [retire]──▶ unlinked
//
// Invariant: the elements are those that are filled and not taken, in the blocks from first_ on. One thread at a time inserts.
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include <polder/base/bits.hpp>
#include <polder/base/config.hpp>
#include <polder/ds/parts/element.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory, unsigned Block = 64>
class block_list {
  static_assert(Block >= 1 && Block <= 64);

 public:
  using kept = typename in_node<T>::kept;

  // Throws std::bad_alloc.
  explicit block_list(typename R::domain& domain) : domain_(domain) {
    guard g(domain_);
    block* const b = g.template make<block>();
    first_.store(b, order::relaxed);
    last_.set(b);
  }
  block_list(const block_list&) = delete;
  block_list& operator=(const block_list&) = delete;
  ~block_list() {
    std::uint64_t ignored;
    while (remove(ignored)) {
    }
    guard g(domain_);
    // The last, and one that an owner that a fork cut off linked behind it: all before were emptied.
    for (block* b = first_.load(order::relaxed); b != nullptr;)
      g.unmake(std::exchange(b, b->next.load(order::relaxed)));
  }

  // Its owner alone. Throws std::bad_alloc; e is as it was then.
  bool insert(kept& e) {
    block* b = last_.get();
    unsigned n = b->filled.load(order::relaxed);
    while (n == block::size) [[unlikely]] {
      extend();
      b = last_.get();
      n = b->filled.load(order::relaxed);
    }
    b->elements[n].put(std::move(e));
    b->filled.store(n + 1, order::release);  // sync: bag-put
    return true;
  }

  // Empty: `seen` is how many elements were put until then.
  std::optional<kept> remove(std::uint64_t& seen) {
    guard g(domain_);
    for (;;) {
      block* first = g.protect(0, first_);
      const unsigned n = first->filled.load(order::acquire);                        // sync: bag-put
      const std::uint64_t free = low_ones(n) & ~first->taken.load(order::acquire);  // sync: bag-take
      if (free != 0) {
        const std::uint64_t bit = free & (~free + 1);
        if ((first->taken.fetch_or(bit, order::acq_rel) & bit) == 0) {  // sync: bag-take
          return first->elements[floor_log2(bit)].take();
        }
        continue;
      }
      block* const next = n == block::size ? g.protect(1, first->next) : nullptr;
      // Only from first_ on is what follows sure to be linked.
      if (next != nullptr && first_.load(order::acquire) != first) continue;  // sync: bag-block
      // Read again, to acquire, when that block is the first.
      if (next == nullptr || next->filled.load(order::relaxed) == 0) {
        seen = first->before.get() + n;
        return std::nullopt;
      }
      if (first_.cas(first, next, order::acq_rel, order::relaxed)) g.retire(first);  // sync: bag-block
    }
  }

 private:
  struct block : R::header, Memory {
    static constexpr unsigned size = Block;
    plain<std::uint64_t> before;  // elements put into blocks before this one; written before it is linked
    // filled: how many were put here. Written by the owner, read by takers; bag-put: the elements are whole.
    atomic<unsigned> filled{0};
    // taken: a bit for each element. Set by takers; bag-take: who finds all taken knows of all who took.
    atomic<std::uint64_t> taken{0};
    // next: the block that the owner went on to, or null. Written once; bag-put.
    atomic<block*> next{nullptr};
    std::array<held<kept>, size> elements;  // written by the owner before filled says so; read by who set the bit
  };
  using guard = typename R::template guard<2>;

  // The last block is full: one behind it becomes the last. Opening and closing the guard may free what others retired, and who is told
  // of that may put here.
  POLDER_NOINLINE void extend() {
    block* const full = last_.get();
    guard g(domain_);
    if (last_.get() != full) return;
    block* next = full->next.load(order::relaxed);  // an owner that a fork cut off may have come so far
    if (next == nullptr) {
      next = g.template make<block>();
      next->before.set(full->before.get() + block::size);
      full->next.store(next, order::release);  // sync: bag-put
    }
    signal_fence();  // a fork sees the one or both
    last_.set(next);
  }

  typename R::domain& domain_;
  // first_ — the block that is taken from. Written by who finds it full and all taken; read by takers.
  //   order  bag-block: who sees a block first knows that all before it were taken
  //   ABA    a guard keeps the block that was read from being used again
  alignas(false_sharing_range) atomic<block*> first_;
  // Owner only; owners follow one another with an order of their own. Never unlinked: what follows it is not there yet.
  alignas(false_sharing_range) plain<block*> last_;
};

}  // namespace polder::ds
