#pragma once
// partial_stack — the partial superblocks of a size class, last in, first out, with removal from the middle.
//
//   paper      Michael, PLDI 2004, section 3.2.6, "in one possible implementation"; the list is that of Michael, SPAA 2002
//   progress   lock-free
//   in malloc  yes: allocates nothing
//   deviation  counted indices instead of hazard pointers: descriptors have numbers, and their memory remains
//
//   put                 get (the first), remove_empty (any): mark its link      whoever comes by: unlink it
//   ──────▶ listed ─────────────────────────────────────────▶ marked ─────────────────────────────────▶ out
//                        [it is mine; walk until it is out,
//                         only then may it be put again]
//
// Invariant: a link that is marked does not change until its descriptor is put again. So nobody can link or unlink behind
// one that is being taken out, and each is unlinked once.
//
// Table: at(number) -> descriptor&, of which `link` is used here.
#include <cstdint>

#include <polder/heap/michael/counted.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::heap::michael {

class partial_stack {
 public:
  static constexpr bool needs_spare = false;

  partial_stack() noexcept = default;
  partial_stack(const partial_stack&) = delete;
  partial_stack& operator=(const partial_stack&) = delete;

  template <class Table>
  void begin(Table&, std::uint32_t) noexcept {}

  template <class Table, class Descriptor>
  void put(Table&, Descriptor& d) noexcept {
    counted now = head_.load(order::relaxed);
    do {
      d.link.store(d.link.load(order::relaxed).then(now.number()), order::release);  // sync: list-link
    } while (!head_.cas(now, now.then(d.number), order::release, order::relaxed));   // sync: list-link
  }

  // The descriptor put last; it is the caller's. Null: none.
  template <class Table>
  auto get(Table& table) noexcept -> decltype(&table.at(0)) {
    return take(table, [](auto&) { return true; });
  }

  // Takes some empty descriptor out, from wherever it lies, unless none is: it goes to retire(d).
  template <class Table, class IsEmpty, class Retire>
  void remove_empty(Table& table, IsEmpty is_empty, Retire retire) noexcept {
    if (auto* const d = take(table, is_empty)) retire(*d);
  }

  // Only while nobody is inside.
  template <class Table, class Each>
  void each(Table& table, Each f) const noexcept {
    counted at = head_.load(order::acquire);  // sync: list-link
    while (at.number() != 0) {
      auto& d = table.at(at.number());
      at = d.link.load(order::acquire);  // sync: list-link
      if (!at.marked()) f(d);
    }
  }

 private:
  // Walks from the front and unlinks what is marked, until `stop(descriptor, link, unlinked)`; null at the end.
  template <class Table, class Stop>
  auto walk(Table& table, Stop stop) noexcept -> decltype(&table.at(0)) {
    for (;;) {
      atomic<counted>* before = &head_;
      counted at = before->load(order::acquire);  // sync: list-link
      for (;;) {
        if (at.number() == 0) return nullptr;
        auto& d = table.at(at.number());
        const counted link = d.link.load(order::acquire);  // sync: list-link
        // Still listed behind `before`? Otherwise `link` may be that of another list.
        if (before->load(order::acquire) != at) break;  // sync: list-link
        if (link.marked()) {
          const counted after = at.then(link.number());
          if (!before->cas(at, after, order::release, order::relaxed)) break;  // sync: list-link
          if (stop(d, link, true)) return &d;
          at = after;
        } else {
          if (stop(d, link, false)) return &d;
          before = &d.link;
          at = link;
        }
      }
    }
  }

  template <class Table, class Wanted>
  auto take(Table& table, Wanted wanted) noexcept -> decltype(&table.at(0)) {
    auto* const mine = walk(table, [&](auto& d, counted link, bool unlinked) {
      return !unlinked && wanted(d) &&
             d.link.cas(link, link.then(link.number(), true), order::release, order::relaxed);  // sync: list-link
    });
    // Whoever unlinks it, it is out when it has been passed, or is no longer met.
    if (mine) walk(table, [&](auto& d, counted, bool unlinked) { return unlinked && &d == mine; });
    return mine;
  }

  // head_ and each listed descriptor's link — the next descriptor.
  //   written by  put (the head; the link before it is listed), who marks, who unlinks: by CAS
  //   order       list-link: the putter's release publishes the link and all it did to the descriptor. A link is stored
  //                 with release too: who reads it in a new place knows that it has left the old one
  //   ABA         counted, and counted on when the descriptor is put again
  atomic<counted> head_;
};

}  // namespace polder::heap::michael
