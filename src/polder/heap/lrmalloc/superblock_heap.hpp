#pragma once
// superblock_heap — LRMalloc's heap: superblocks in descriptors, from which thread caches are filled and to which they
// are flushed; lock-free.
//
//   paper      Leite & Rocha 2018, sec. 3.2; listings 1.4 and 1.5
//   progress   lock-free but for the system calls: a step is repeated only because another thread's succeeded
//   in malloc  yes; async-signal-safe, as long as no two operations use one bin
//   deviation  a new superblock's blocks are threaded a page at a time (fresh_run.hpp), and a page comes into the page map
//              when its blocks are threaded: the address of a block that was never handed out is no block's
//
// Invariant: of every superblock, blocks in its list + blocks in bins + blocks with users == capacity; the anchor's count
// says how many are in its list.
#include <cstddef>
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/heap/high_water.hpp>
#include <polder/heap/lrmalloc/descriptor.hpp>
#include <polder/heap/lrmalloc/mapped_superblocks.hpp>
#include <polder/heap/lrmalloc/page_tree.hpp>
#include <polder/heap/lrmalloc/partial_list.hpp>
#include <polder/heap/lrmalloc/thread_cache.hpp>
#include <polder/mem/misuse.hpp>
#include <polder/mem/record_table.hpp>

namespace polder::heap::lrmalloc {

template <class PageMap, class Watch = nobody_watches>
class superblock_heap {
 public:
  superblock_heap(mem::secret s, bool huge_pages, bool populates, high_water& memory) noexcept
      : secret_(s), populates_(populates), memory_(memory), descriptors_(directory()), source_(huge_pages) {}
  bool begin() noexcept { return map_.begin(); }
  void end() noexcept {
    map_.end();
    source_.end();
  }

  POLDER_ALWAYS_INLINE mem::secret secret() const noexcept { return secret_; }
  // What the page map says; nothing of an address that is no block's.
  POLDER_ALWAYS_INLINE page_word find(const void* p) const noexcept { return map_.find(p); }

  // CacheFill: the bin has no blocks threaded; afterwards it has some. False: the system refuses.
  POLDER_NOINLINE bool fill(bin& b, unsigned c) noexcept {
    if (b.fresh == nullptr) {
      if (!fill_from_partial(b, c) && !fill_from_new(b, c)) return false;
      if (b.first != nullptr) return true;
    }
    thread_a_page(b, c, map_.find(superblock_of(b.fresh)));
    return true;
  }

  // What lies first in the bin is not a free block: the run it must be then is opened, and its blocks are the bin's fresh
  // ones. Does not return if it is nothing of the kind.
  void open_run(bin& b, unsigned c) noexcept {
    mem::block* const run = b.first;
    if (!is_run(run, secret_)) mem::report(mem::misuse::corrupted, run, place(run, c));
    POLDER_CHECK(1, b.fresh == nullptr);
    b.first = run->link;
    b.count -= run_length(run, c);
    b.fresh = reinterpret_cast<std::byte*>(run);
  }

  // CacheFlush: everything in the bin. How many superblocks it emptied.
  POLDER_NOINLINE std::uint32_t flush(bin& b, unsigned c) noexcept {
    if (b.fresh != nullptr) {
      auto* const run = reinterpret_cast<mem::block*>(b.fresh);
      set_link(run, b.first, true, secret_);
      b.first = run;
      b.fresh = nullptr;
    }
    mem::block* next = b.first;
    b.first = nullptr;
    b.count = 0;
    b.grows = false;
    std::uint32_t emptied = 0;
    while (next != nullptr) next = flush_group(next, c, emptied);
    return emptied;
  }

  // ---- for statistics and tests ----------------------------------------------------------------------------------------

  struct counts {
    std::uint64_t fills = 0;        // from a partial superblock
    std::uint64_t opened = 0;       // new superblocks
    std::uint64_t closed = 0;       // superblocks that went back
    std::uint64_t groups = 0;       // given back by one CAS each, when no other thread interferes
    std::uint64_t given_back = 0;   // blocks in them
    std::uint64_t stuck = 0;        // superblocks that the system would not have back, to be used next
    std::uint32_t descriptors = 0;  // made so far
  };
  counts count() const noexcept {
    counts n;
    for (const shared_class& s : classes_) {
      n.fills += s.fills.load(order::relaxed);
      n.opened += s.opened.load(order::relaxed);
      n.closed += s.closed.load(order::relaxed);
      n.groups += s.groups.load(order::relaxed);
      n.given_back += s.given_back.load(order::relaxed);
    }
    n.stuck = stuck_count_.load(order::relaxed);
    n.descriptors = descriptors_.made();
    return n;
  }
  std::size_t waiting_bytes() const noexcept { return source_.waiting_bytes(); }
  std::size_t metadata_bytes() const noexcept { return descriptors_.bytes() + map_.mapped_bytes(); }
  std::size_t metadata_reserved() const noexcept { return descriptors_.bytes() + map_.reserved_bytes(); }
  const PageMap& map() const noexcept { return map_; }

  struct states {
    std::size_t full = 0, partial = 0;  // superblocks
    std::size_t emptied = 0;            // and not released: by a thread that went no further
    std::size_t free_blocks = 0;        // in partial ones
    std::size_t listed = 0;             // descriptors in partial lists, with those that are empty
    std::size_t retired = 0;            // and those that wait for a superblock
  };
  // Walks everything; traps where an invariant is broken. While nobody is inside.
  states walk() const noexcept {
    states seen;
    for (std::uint32_t n = 1; n <= descriptors_.made(); ++n) {
      descriptor& d = descriptors_.at(n);
      const std::byte* const superblock = d.superblock.get();
      const page_word w = superblock ? map_.find(superblock) : page_word{};
      if (!w || w.record() != &d) continue;  // retired, or empty in a list
      must(w.cls() == d.cls.get() && d.number.get() == n);
      const mem::anchor_word a = d.anchor.seen();
      if (a.state() == mem::fill::empty) {
        ++seen.emptied;
      } else if (a.state() == mem::fill::full) {
        must(a == mem::anchor_word::full(size_classes::capacity[w.cls()]));
        ++seen.full;
      } else {
        check_list(superblock, w.cls(), a);
        seen.free_blocks += a.count();
        ++seen.partial;
      }
    }
    for (unsigned c = 1; c <= size_classes::count; ++c)
      classes_[c].partial.walk(links(), [&](std::uint32_t n) {
        must(descriptors_.at(n).anchor.seen().state() != mem::fill::full);
        must(descriptors_.at(n).cls.get() == c);
        ++seen.listed;
      });
    retired_.walk(links(), [&](std::uint32_t n) {
      must(descriptors_.at(n).anchor.seen().state() == mem::fill::empty);
      ++seen.retired;
    });
    return seen;
  }

 private:
  // One class's, on lines of its own.
  struct alignas(false_sharing_range) shared_class {
    index_stack partial;
    // For statistics: written by who fills or flushes, relaxed, when the lines are on their way to it anyway.
    atomic<std::uint64_t> fills;
    atomic<std::uint64_t> opened;
    atomic<std::uint64_t> closed;
    atomic<std::uint64_t> groups;
    atomic<std::uint64_t> given_back;
  };

  static constexpr std::uint32_t per_table = 1024, tables = 1u << 16;  // 2^26 superblocks: 4 TiB
  using descriptor_table = mem::record_table<descriptor, per_table, tables>;

  std::byte* directory() noexcept { return directory_; }
  auto at() const noexcept {
    return [this](std::uint32_t n) -> descriptor& { return descriptors_.at(n); };
  }
  auto links() const noexcept {
    return [this](std::uint32_t n) -> atomic<std::uint32_t>& { return descriptors_.at(n).next; };
  }

  // CacheFillFromPartialSB
  bool fill_from_partial(bin& b, unsigned c) noexcept {
    shared_class& s = classes_[c];
    const auto [n, was] = take_partial<Watch>(s.partial, retired_, size_classes::capacity[c], at());
    if (n == 0) return false;
    s.fills.fetch_add(1, order::relaxed);
    b.first = reinterpret_cast<mem::block*>(descriptors_.at(n).superblock.get() +
                                            was.avail() * size_classes::block_size[c]);
    b.count = was.count();
    return true;
  }

  // CacheFillFromNewSB: all blocks are the bin's, none threaded, but its first page is in the page map.
  bool fill_from_new(bin& b, unsigned c) noexcept {
    const std::uint32_t n = take_descriptor();
    if (n == 0) return false;
    Watch::at(step::opening);
    std::byte* const superblock = take_superblock();
    if (superblock == nullptr) return retired_.push(n, links()), false;
    Watch::at(step::mapped);
    descriptor& d = descriptors_.at(n);
    const page_row row = map_.row(superblock);
    if (row == nullptr) {
      if (!source_.give(superblock)) keep_stuck(superblock);
      return retired_.push(n, links()), false;
    }
    if (b.grows && populates_) static_cast<void>(os::populate(superblock, superblock_size));
    d.superblock.set(superblock);
    d.cls.set(c);
    d.number.set(n);
    d.anchor.open(size_classes::capacity[c]);
    row[0].store(page_word(&d, c), order::relaxed);
    classes_[c].opened.fetch_add(1, order::relaxed);
    memory_.rise(superblock_size);
    b.fresh = superblock;
    Watch::at(step::registered);
    return true;
  }

  // Threads the fresh blocks that begin in the next page.
  void thread_a_page(bin& b, unsigned c, page_word w) noexcept {
    const std::size_t size = size_classes::block_size[c];
    std::byte* const end = end_of_blocks(b.fresh, c);
    std::byte* const page_end = at_address(align_down(address(b.fresh), map_page) + map_page);
    std::byte* const stop = page_end < end ? page_end : end;
    auto* p = b.fresh;
    b.first = reinterpret_cast<mem::block*>(p);
    for (; p < stop; p += size, ++b.count)
      reinterpret_cast<mem::block*>(p)->set_link(reinterpret_cast<mem::block*>(p + size), secret_);
    reinterpret_cast<mem::block*>(p - size)->set_link(nullptr, secret_);

    // Up to the next block that is not threaded; all pages of the last ones.
    std::byte* const superblock = superblock_of(b.fresh);
    const std::size_t from = std::size_t(b.fresh - superblock) >> page_shift;
    const std::size_t to = p == end ? (std::size_t(end - superblock) + map_page - 1) >> page_shift
                                    : std::size_t(p - superblock) >> page_shift;
    const page_row row = map_.row(superblock);
    for (std::size_t i = from; i < to; ++i) row[i].store(w, order::relaxed);
    b.fresh = p == end ? nullptr : p;
    b.grows = b.grows || p == end;
  }

  // Gives back `first` and what follows it of the same superblock; the rest of the list.
  mem::block* flush_group(mem::block* first, unsigned c, std::uint32_t& emptied) noexcept {
    std::byte* const superblock = superblock_of(first);
    std::uint32_t count = 0;
    mem::block* last;
    mem::block* rest = first;
    bool run = false;
    do {
      last = rest;
      run = !last->looks_free(secret_);
      if (run && !is_run(last, secret_)) mem::report(mem::misuse::corrupted, last, place(last, c));
      count += run ? run_length(last, c) : 1;
      rest = last->link;
    } while (rest != nullptr && superblock_of(rest) == superblock);

    const page_row row = map_.row(superblock);
    // The superblock has blocks that are not free yet, ours: the descriptor is its own until they are given.
    const page_word w = row[0].load(order::relaxed);
    const std::uint32_t capacity = size_classes::capacity[c];
    shared_class& s = classes_[c];
    s.groups.fetch_add(1, order::relaxed);
    s.given_back.fetch_add(count, order::relaxed);
    Watch::at(step::grouped);
    give_blocks<Watch>(
        s.partial, retired_, w.record()->number.get(), size_classes::index_of(c, offset_in_superblock(first)),
        count, capacity, at(),
        [&](std::uint32_t next) {
          auto* const was_first = next == capacity ? nullptr : superblock + next * size_classes::block_size[c];
          set_link(last, reinterpret_cast<mem::block*>(was_first), run, secret_);
        },
        [&] {
          release_superblock(superblock, row, s.closed);
          ++emptied;
        });
    return rest;
  }

  void release_superblock(std::byte* superblock, page_row row, atomic<std::uint64_t>& closed) noexcept {
    for (std::size_t i = 0; i < pages_per_superblock; ++i) row[i].store(page_word{}, order::relaxed);
    Watch::at(step::unregistered);
    if (!source_.give(superblock)) keep_stuck(superblock);
    closed.fetch_add(1, order::relaxed);
    memory_.fall(superblock_size);
    Watch::at(step::released);
  }

  // A superblock that the system would not take back (it cannot split the mapping, say) is empty of pages if it can be,
  // and used before any other. Where no descriptor is left to remember it by, its address space is lost.
  void keep_stuck(std::byte* superblock) noexcept {
    static_cast<void>(os::discard_now(superblock, superblock_size));
    const std::uint32_t n = take_descriptor();
    if (n == 0) return;
    descriptors_.at(n).superblock.set(superblock);
    stuck_count_.fetch_add(1, order::relaxed);
    stuck_.push(n, links());
  }
  std::byte* take_superblock() noexcept {
    if (!stuck_.empty()) [[unlikely]]
      if (const std::uint32_t n = stuck_.pop(links())) {
        std::byte* const superblock = descriptors_.at(n).superblock.get();
        stuck_count_.fetch_sub(1, order::relaxed);
        retired_.push(n, links());
        return superblock;
      }
    return source_.take();
  }

  // DescriptorAlloc. 0: the system refuses.
  std::uint32_t take_descriptor() noexcept {
    const std::uint32_t n = retired_.pop(links());
    return n != 0 ? n : descriptors_.add();
  }

  mem::misuse_place place(const void* p, unsigned c) const noexcept {
    return {.block_size = size_classes::block_size[c], .span = superblock_of(p), .cls = c};
  }

  // Every block in the list lies where one can, is free, and is there once.
  void check_list(const std::byte* superblock, unsigned c, mem::anchor_word a) const noexcept {
    std::uint64_t seen[superblock_size / min_alignment / 64] = {};
    std::uint32_t i = a.avail();
    for (std::uint32_t left = a.count(); left != 0;) {
      must(i < size_classes::capacity[c] && (seen[i / 64] >> i % 64 & 1) == 0);
      seen[i / 64] |= std::uint64_t{1} << i % 64;
      auto* const b = reinterpret_cast<const mem::block*>(superblock + i * size_classes::block_size[c]);
      const bool run = is_run(b, secret_);
      const std::uint32_t length = run ? run_length(b, c) : 1;
      must((run || b->looks_free(secret_)) && length <= left);
      left -= length;
      if (left != 0) i = size_classes::index_of(c, std::uint32_t(address(b->link) - address(superblock)));
    }
  }

  mem::secret secret_;
  bool populates_;
  high_water& memory_;
  PageMap map_;
  descriptor_table descriptors_;
  alignas(false_sharing_range) index_stack retired_;  // descriptors without a superblock
  index_stack stuck_;                                 // descriptors that remember a superblock for the next fill
  atomic<std::uint64_t> stuck_count_;
  mapped_superblocks source_;
  mutable shared_class classes_[size_classes::count + 1];
  alignas(cache_line) std::byte directory_[descriptor_table::directory_bytes];  // zeroed; touched where it is used
};

}  // namespace polder::heap::lrmalloc
