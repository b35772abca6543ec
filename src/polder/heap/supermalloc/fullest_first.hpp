#pragma once
// fullest_first — partial folios by the number of their free blocks, and the one that has fewest.
//
//   paper      Kuszmaul 2015: allocating from the fullest folio lets the others empty, so that their pages can go back
//   progress   every operation a fixed number of steps, four words of bits among them
//   in malloc  yes; under the lock of its pages
//   invariant  bit n is set exactly when some folio with n free blocks is listed
#include <array>
#include <bit>
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/heap/supermalloc/folio.hpp>

namespace polder::heap::supermalloc {

// `folios(n)` is the record of folio n.
class fullest_first {
 public:
  static constexpr unsigned most_free = 256;

  template <class Folios>
  void add(folio_number n, unsigned free, Folios&& folios) {
    POLDER_CHECK(1, n != 0 && free > 0 && free <= most_free);
    push(heads_[free - 1], n, folios);
    bits_[(free - 1) / 64] |= std::uint64_t{1} << (free - 1) % 64;
  }

  template <class Folios>
  void remove(folio_number n, unsigned free, Folios&& folios) {
    unlink(heads_[free - 1], n, folios);
    if (heads_[free - 1] == 0) bits_[(free - 1) / 64] &= ~(std::uint64_t{1} << (free - 1) % 64);
  }

  // The folio with the fewest free blocks; 0: none is listed.
  folio_number fullest() const {
    for (unsigned w = 0; w < bits_.size(); ++w)
      if (bits_[w] != 0) return heads_[w * 64 + unsigned(std::countr_zero(bits_[w]))];
    return 0;
  }

  // f(folio, free) for each.
  template <class Folios, class F>
  void for_each(Folios&& folios, F&& f) const {
    for (unsigned free = 1; free <= most_free; ++free)
      for (folio_number n = heads_[free - 1]; n != 0; n = folios(n).next) f(n, free);
  }
  bool has(unsigned free) const { return (bits_[(free - 1) / 64] >> (free - 1) % 64 & 1) != 0; }
  folio_number first_with(unsigned free) const { return heads_[free - 1]; }

  // A list of folios, linked both ways.
  template <class Folios>
  static void push(folio_number& head, folio_number n, Folios&& folios) {
    folio& f = folios(n);
    f.next = head;
    f.prev = 0;
    if (head != 0) folios(head).prev = n;
    head = n;
  }
  template <class Folios>
  static void unlink(folio_number& head, folio_number n, Folios&& folios) {
    folio& f = folios(n);
    POLDER_CHECK(1, f.prev == 0 ? head == n : folios(f.prev).next == n);
    (f.prev != 0 ? folios(f.prev).next : head) = f.next;
    if (f.next != 0) folios(f.next).prev = f.prev;
    f.next = f.prev = 0;
  }

 private:
  std::array<folio_number, most_free> heads_;
  std::array<std::uint64_t, most_free / 64> bits_;
};

}  // namespace polder::heap::supermalloc
