#pragma once
// faa_queue — a list of arrays; an operation claims a cell of the last or the first of them by one fetch-and-add.
//
//   paper      the idea: Yang and Mellor-Crummey, "A wait-free queue as fast as fetch-and-add", PPoPP 2016, and Morrison and
//              Afek, PPoPP 2013, sec. 1 (the infinite array); as a list of arrays with each cell used once: Ramalhete and
//              Correia, "FAAArrayQueue", 2016
//   progress   lock-free: a getter may spoil the cell of a slow putter, again and again, but only as often as a segment has
//              cells: the put that makes the next segment brings its element with it
//   in malloc  no: put allocates
//   deviation  cells are parts/claimed_cells.hpp's: elements of any type in place, and no read-modify-write to fill or take one
//              that nobody spoils. A getter that comes before its putter looks again a few times before it spoils the cell.
//              Head does not pass tail, so no segment is retired that tail leads to
//
// A segment:  made ── next of the one before ──▶ last ── its own next ──▶ passed by tail_ ── by head_ [retire] ──▶ unlinked
//
// Order. A put takes effect when its cell is filled (or its segment linked), a get when it claims, but for cells whose getter
// claimed first: an element there is got by a call that has begun before the element could be seen, so the get may be put
// right behind the put. Cells are claimed in the order of their numbers, so of two puts one after the other the first one's
// cell is claimed by a getter first.
//
// Empty. A getter reads puts_ after gets_ and finds puts_ <= gets_: at that moment each cell that a put has claimed was
// claimed by a getter too, and what is in it is theirs. A cell that is filled says that puts_ has passed it, so who finds the
// one at gets_ filled need not read puts_, which putters write all the time.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/claimed_cells.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/fences.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

struct faa_sizes {
  // Of a segment; some 9 KiB for elements of a word.
  template <class Kept>
  static constexpr std::size_t cells = sizeof(Kept) <= 64 ? 1022 : 64;
  static constexpr unsigned looks = 64;  // of a getter, before it spoils a cell
};

template <class T, class R, class Memory = heap_memory, class Sizes = faa_sizes>
class faa_queue : public collection<faa_queue<T, R, Memory, Sizes>, T, in_node<T>>,
                  public queue_names<faa_queue<T, R, Memory, Sizes>, T> {
 public:
  static constexpr collection_info info = {
      .name = "faa-queue",
      .title = "queue of arrays with fetch-and-add indices",
      .kind = shape::queue,
      .order = semantics::linearizable,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Yang and Mellor-Crummey, PPoPP 2016; Ramalhete and Correia, 2016",
      .year = 2016,
      .protection = needs::pointer,
  };
  using kept = typename in_node<T>::kept;

  // Throws std::bad_alloc.
  explicit faa_queue(typename R::domain& domain) : domain_(domain) {
    guard g(domain_);
    segment* const first = g.template make<segment>();
    head_.store(first, order::relaxed);
    tail_.store(first, order::relaxed);
  }
  faa_queue(const faa_queue&) = delete;
  faa_queue& operator=(const faa_queue&) = delete;
  ~faa_queue() {
    while (remove()) {
    }
    guard g(domain_);
    g.unmake(head_.load(order::relaxed));
  }

 private:
  friend collection<faa_queue, T, in_node<T>>;

  using line_of_cells = claimed_cells<kept, Sizes::template cells<kept>>;

 public:
  static constexpr std::size_t cells = line_of_cells::size;

 private:
  // Memory need not be able to align more than malloc does.
  struct apart {
    std::byte nothing[false_sharing_range];
  };
  struct segment : R::header, Memory {
    segment() noexcept = default;
    explicit segment(kept&& e) noexcept : puts(1), line(std::move(e)) {}
    // puts, gets — how many cells putters and getters claimed, or tried to: those past the last are nobody's.
    //   order  faa-claim: who reads gets sees as many puts as the getters it is from, in this segment and behind it; see Empty
    //            above
    //   ABA    they only grow
    atomic<std::uint64_t> puts;
    apart between_puts_and_gets;
    atomic<std::uint64_t> gets;
    apart between_gets_and_next;
    // next — the segment behind, or null. Written once. Order: faa-link: who sees the segment sees what is in it.
    atomic<segment*> next;
    line_of_cells line;
  };
  using guard = typename R::template guard<1>;

  bool insert(kept& e) {
    guard g(domain_);
    for (;;) {
      segment* last = g.protect(0, tail_);
      const std::uint64_t at = last->puts.fetch_add(1, order::relaxed);
      if (at < cells) [[likely]] {
        if (last->line.fill(at, e, fences_)) return true;
        continue;
      }
      segment* next = last->next.load(order::acquire);  // sync: faa-link
      if (next == nullptr) {
        segment* const made = make(g, std::move(e));
        if (last->next.cas(next, made, order::release, order::acquire)) {  // sync: faa-link
          swing(last, made);
          return true;
        }
        made->line.take_to(0, e);
        g.unmake(made);
      }
      swing(last, next);
    }
  }

  std::optional<kept> remove() {
    guard g(domain_);
    for (;;) {
      segment* first = g.protect(0, head_);
      const std::uint64_t gets = first->gets.load(order::acquire);  // sync: faa-claim
      if (gets < cells) {
        // A cell that is filled answers without the word that putters write.
        if (!first->line.is_filled(gets) && first->puts.load(order::relaxed) <= gets) return std::nullopt;
        const std::uint64_t at = first->gets.fetch_add(1, order::release);  // sync: faa-claim
        if (at < cells && first->line.wait(at, Sizes::looks, fences_)) [[likely]]
          return std::optional<kept>(first->line.take(at));
        continue;  // who leaves the segment has read gets, which acquires: a claim does not
      }
      segment* const next = first->next.load(order::acquire);  // sync: faa-link
      if (next == nullptr) return std::nullopt;
      // Head must not pass tail: whoever follows tail would read what was freed.
      if (tail_.load(order::relaxed) == first) swing(first, next);
      if (head_.cas(first, next, order::acq_rel, order::relaxed)) g.retire(first);  // sync: faa-leave
    }
  }

  // Once in as many puts as a segment has cells.
  POLDER_NOINLINE static segment* make(guard& g, kept&& e) { return g.template make<segment>(std::move(e)); }

  void swing(segment* from, segment* to) noexcept {
    tail_.cas(from, to, order::release, order::relaxed);  // sync: faa-link
  }

  typename R::domain& domain_;
  const fences fences_;
  // head_ — the segment that getters are at. Written by who finds all its cells claimed and one behind.
  //   order  faa-leave: who sees a segment as head sees that tail has passed the one before
  //   ABA    a guard keeps the segment that was read from being used again
  alignas(false_sharing_range) atomic<segment*> head_;
  // tail_ — the last segment or one before it, never behind head. Written by whoever finds it behind; read by who puts.
  alignas(false_sharing_range) atomic<segment*> tail_;
};

}  // namespace polder::ds
