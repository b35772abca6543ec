#pragma once
// slice_classes — the class of each slice of a chunk; 0: nobody's. A chunk of one class says it in all of them.
//
//   progress   wait-free
//   in malloc  yes
//
// Life of a slice's class. Each arrow is one store; who makes it has the slice alone, by the lock of the source.
//
//                take [its folios' records are clear, and are filled from now on]
//          0 ──────────────────────────────────────────────────────────────────────▶ c
//          ▲                                                                         │
//          └─────────────────────────────────────────────────────────────────────────┘
//                give [none of its blocks is held: its records are to be cleared before it can be had again]
//
// Invariant: whoever finds the class that a slice has in this life finds nothing in its records of the life before.
#include <cstdint>

#include <polder/sync/atomic.hpp>

namespace polder::heap::supermalloc {

template <unsigned Slices>
class slice_classes {
 public:
  unsigned at(unsigned slice) const { return cls_[slice].load(order::acquire); }  // sync: slice-class
  // For who holds the lock that its folios are under, or who comes after all others.
  unsigned known(unsigned slice) const { return cls_[slice].load(order::relaxed); }

  // By who makes a chunk, which nobody finds yet.
  void of_all(unsigned c) {
    for (auto& slice : cls_) slice.store(std::uint8_t(c), order::relaxed);
  }
  void take(unsigned slice, unsigned c) {
    cls_[slice].store(std::uint8_t(c), order::release);  // sync: slice-class
  }
  void give(unsigned slice) { cls_[slice].store(0, order::relaxed); }

 private:
  // cls_
  //   written by  who takes the slice, who gives it back
  //   read by     anybody who looks an address up
  //   order       slice-class: the records of its folios were cleared before it was taken. When it is given back
  //                 nothing is published: who finds 0 looks at no record. What the maker of a chunk writes comes with
  //                 the chunk itself
  //   ABA         who has a block in it finds its class: it cannot be given back meanwhile
  atomic<std::uint8_t> cls_[Slices];
};

}  // namespace polder::heap::supermalloc
