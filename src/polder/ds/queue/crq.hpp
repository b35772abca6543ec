#pragma once
// crq — a ring that elements go through in the order of their tickets, until it is closed.
//
//   paper      Morrison and Afek, "Fast concurrent queues for x86 processors", PPoPP 2013, sec. 4.1, fig. 3
//   progress   lock-free: put() gives up and closes the ring after so many tries; take() repeats while others' tickets
//              stand before it, one ticket each
//   in malloc  no
//   deviation  Whether a cell holds an element stands in its index word, so every 64-bit value is an element (in the paper
//              one value means none). take() looks before it draws a ticket: from an empty ring nothing is drawn, and
//              what the paper calls fixState is needed after a race only. Neighbouring tickets lie two lines apart
//
// A ticket t belongs to the cell t mod size. Its putter and its taker meet there; states of a cell, for the ticket t and
// what came before it. An arrow is one CAS of both words.
//
//                 put t                      take t [the element is the taker's]
//     (≤ t, none) ───────────▶ (t, element) ─────────────────────────────────────▶ (t + size, none)
//       │      │                    │
//       │      │ taker of t, empty  │ taker of t + n·size: unsafe [who puts there must see that its taker is to come]
//       │      └──────────────┐     └──▶ (t, element, unsafe) ─── take t ──▶ (t + size, none, unsafe)
//       │ put t, unsafe, if   ▼
//       │ head is not past t  (t + size, none) [putter of t: another ticket]
//       ▼
//     (t, element)            which is safe again: its taker has not been there
//
// Invariant: the elements are those of the cells (t, element) with head ≤ t < tail, and those whose taker is on its way.
// Each ticket is drawn by one putter and one taker, so no element comes out twice; they come out in the order of tickets.
//
// Empty, exactly: when tail is read and is not past head, each ticket drawn by a putter has its taker already. Closed is for
// ever: a ring that is empty after it was seen closed stays so.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/parts/cells.hpp>
#include <polder/sync/atomic.hpp>
#include <polder/sync/double_word.hpp>

namespace polder::ds {

template <class Memory>
class crq {
 public:
  static constexpr unsigned patience = 16;  // tickets that a putter draws in vain before it closes the ring

  using ring = cells<double_word, Memory>;

  // As many cells as a power of two.
  explicit crq(ring&& c) noexcept
      : cells_(std::move(c)),
        mask_(cells_.size() - 1),
        spread_(cells_.size() >= 64 ? 3 : 0),
        wrap_(unsigned(std::countr_zero(cells_.size())) - spread_) {}

  std::size_t bytes() const noexcept { return cells_.bytes(); }

  // False: the ring is closed.
  bool put(std::uint64_t e) noexcept {
    for (unsigned tries = 1;; ++tries) {
      // A look first: tickets of a closed ring are drawn in vain, and its takers have to go through them.
      if ((tail_.load(order::relaxed) & closed) != 0) return false;
      const std::uint64_t t = tail_.fetch_add(1, order::relaxed);
      if ((t & closed) != 0) return false;
      double_word& cell = at(t);
      const state now(cell.first(order::acquire));  // sync: crq-unsafe
      // An unsafe cell: the taker of t may have been there. It drew its ticket before it marked the cell, so who sees the
      // mark sees its head too.
      if (!now.full() && now.index() <= t && (!now.unsafe() || head_.load(order::relaxed) <= t)) {
        double_value expected{now.bits(), 0};
        const double_value put{state(t, state::has_element).bits(), e};
        if (cell.cas(expected, put, order::release, order::relaxed)) return true;  // sync: crq-element
      }
      if (std::int64_t(t - head_.load(order::relaxed)) >= std::int64_t(cells_.size()) || tries == patience) {
        tail_.fetch_or(closed, order::relaxed);
        return false;
      }
    }
  }

  std::optional<std::uint64_t> take() noexcept {
    for (;;) {
      if (empty()) return std::nullopt;
      const std::uint64_t h = head_.fetch_add(1, order::acq_rel);  // sync: crq-tickets
      if (std::optional<std::uint64_t> e = meet(h)) return e;
      if ((tail_.load(order::relaxed) & ~closed) <= h + 1) {
        catch_up();
        return std::nullopt;
      }
    }
  }

  bool is_closed() const noexcept { return (tail_.load(order::relaxed) & closed) != 0; }

 private:
  static constexpr std::uint64_t closed = std::uint64_t{1} << 63;

  // A cell's first word: what it waits for or holds, and two marks.
  class state {
   public:
    static constexpr std::uint64_t has_element = 1, is_unsafe = 2;
    explicit state(std::uint64_t bits) noexcept : bits_(bits) {}
    state(std::uint64_t index, std::uint64_t marks) noexcept : bits_(index << 2 | marks) {}
    std::uint64_t bits() const noexcept { return bits_; }
    std::uint64_t index() const noexcept { return bits_ >> 2; }
    std::uint64_t marks() const noexcept { return bits_ & 3; }
    bool full() const noexcept { return (bits_ & has_element) != 0; }
    bool unsafe() const noexcept { return (bits_ & is_unsafe) != 0; }

   private:
    std::uint64_t bits_;
  };

  double_word& at(std::uint64_t ticket) const noexcept {
    const std::uint64_t i = ticket & mask_;
    return cells_[(i << spread_ | i >> wrap_) & mask_];
  }

  bool empty() const noexcept {
    const std::uint64_t h = head_.load(order::acquire);  // sync: crq-tickets
    return (tail_.load(order::relaxed) & ~closed) <= h;
  }

  // The taker of h at its cell. Nothing: the putter of h will find that it comes too late, or has.
  std::optional<std::uint64_t> meet(std::uint64_t h) noexcept {
    double_word& cell = at(h);
    for (;;) {
      const state now(cell.first(order::relaxed));
      double_value expected{now.bits(), cell.second(order::relaxed)};
      if (now.index() > h) return std::nullopt;
      if (!now.full()) {
        expected.second = 0;
        const double_value passed{state(h + cells_.size(), now.marks()).bits(), 0};
        if (cell.cas(expected, passed, order::relaxed, order::relaxed)) return std::nullopt;
      } else if (now.index() == h) {
        const double_value taken{state(h + cells_.size(), now.marks() & state::is_unsafe).bits(), 0};
        if (cell.cas(expected, taken, order::acquire, order::relaxed)) return expected.second;  // sync: crq-element
      } else {
        const double_value marked{state(now.index(), now.marks() | state::is_unsafe).bits(), expected.second};
        if (cell.cas(expected, marked, order::release, order::relaxed)) return std::nullopt;  // sync: crq-unsafe
      }
    }
  }

  // Head is past tail after takers that met nobody: tail follows, so that putters draw no tickets in vain. The paper's
  // fixState. A closed tail is past every head.
  void catch_up() noexcept {
    std::uint64_t t = tail_.load(order::relaxed);
    for (;;) {
      const std::uint64_t h = head_.load(order::relaxed);
      if (h <= t) return;
      if (tail_.cas(t, h, order::relaxed, order::relaxed)) return;
    }
  }

  // cells_ — the first word of each: index, unsafe, element. Written by the putter and the takers of its tickets.
  //   order  crq-element: what an element points to was written before it was put. Every write is a read-modify-write, so
  //            marking a cell hands on what its putter released
  //          crq-unsafe: see put()
  //   ABA    indices only grow, and a ticket is put once
  const ring cells_;
  const std::uint64_t mask_;
  const unsigned spread_, wrap_;
  std::byte apart1_[false_sharing_range];
  // head_ — the next taker's ticket. Written by takers, read by all.
  //   order  crq-tickets: who sees that a ticket was drawn finds tail at least where its drawer knew it to be. So no taker
  //            finds the ring empty whom another has overtaken that left an element behind
  atomic<std::uint64_t> head_;
  std::byte apart2_[false_sharing_range];
  // tail_ — the next putter's ticket, and whether the ring is closed. Written by putters, and by takers who catch up.
  //   order  none: it publishes nothing. Of two puts of which one knows the other the later has the later ticket, since
  //            both change one word
  atomic<std::uint64_t> tail_;
  std::byte apart3_[false_sharing_range];
};

}  // namespace polder::ds
