#pragma once
// lrmalloc_front — LRMalloc: thread caches over a lock-free heap of superblocks, and a page map.
//
//   paper      Leite & Rocha 2018, sec. 3.1, listing 1.2; the rest: README.md
//   progress   malloc from the cache, free into the cache: wait-free, no atomic read-modify-write. Fill and flush:
//              lock-free, but for the system calls
//   in malloc  yes; in a signal handler that interrupted it too: nothing is ever locked, and the handler has a cache of
//              its own
//
// Where a block is. An arrow is one step of a thread, atomic where it leaves the thread's own:
//
//                        allocate                        fill (take_all, or a new superblock)
//        with a user ◀────────────── in a thread's bin ◀─────────────────────────────── in its superblock's list
//            │                           ▲        │                                             ▲
//            └───────────────────────────┘        └─────────────────────────────────────────────┘
//                     deallocate                               flush (give)
#include <cstddef>
#include <cstdint>

#include <polder/heap/lrmalloc/superblock_heap.hpp>
#include <polder/heap/parts.hpp>

namespace polder::heap::lrmalloc {

// What the end of a thread does with its cache: the paper's flush, or what the paper names as an improvement (sec. 4, at
// the end): it waits, with its blocks, for the next thread.
enum class at_exit : std::uint8_t { flush, recycle };

// PageMap: page_array or page_tree.
template <class PageMap, at_exit ending = at_exit::flush, class Watch = nobody_watches>
class lrmalloc_front {
 public:
  using size_classes = lrmalloc::size_classes;
  using cache = thread_cache;
  using heap_type = superblock_heap<PageMap, Watch>;
  static constexpr bool reentrant = true;

  explicit lrmalloc_front(const heap_setting& s) noexcept
      : heap_(s.secret, s.asked.thp == thp_policy::on, s.asked.populate, s.memory) {
    for (unsigned c = 1; c <= size_classes::count; ++c) {
      const std::size_t blocks = s.asked.tuned[0] / size_classes::block_size[c];
      full_at_[c] = blocks != 0 ? std::uint32_t(blocks) : 1;
    }
  }
  bool begin() noexcept { return heap_.begin(); }
  void end() noexcept { heap_.end(); }

  // malloc, of a size that has a class
  POLDER_ALWAYS_INLINE void* allocate_at_once(cache& k, unsigned c) noexcept {
    bin& b = k.bins[c];
    mem::block* const p = b.first;
    if (p == nullptr || !p->looks_free(heap_.secret())) [[unlikely]]
      return nullptr;
    b.first = p->link;
    --b.count;
    p->wipe();
    return p;
  }
  void* allocate(cache& k, unsigned c) noexcept {
    bin& b = k.bins[c];
    for (;;) {
      if (void* const p = allocate_at_once(k, c)) return p;
      if (b.first != nullptr) heap_.open_run(b, c);
      else if (!heap_.fill(b, c)) return nullptr;
    }
  }

  POLDER_ALWAYS_INLINE block_info find(const void* p) const noexcept {
    const page_word w = heap_.find(p);
    return {.cls = w.cls(), .within = bool(w), .span = superblock_of(p), .record = w.record()};
  }

  // Does not return unless p is a block that somebody holds.
  void check(const void* p, block_info i) const noexcept {
    if (!is_held(p, i.cls)) misused(p);
  }

  // free, of a block that has a class
  POLDER_ALWAYS_INLINE freed deallocate_at_once(cache& k, void* p, block_info i) noexcept {
    bin& b = k.bins[i.cls];
    if (!is_held(p, i.cls) || b.count >= full_at_[i.cls]) [[unlikely]]
      return freed::not_yet;
    auto* const free = static_cast<mem::block*>(p);
    free->set_link(b.first, heap_.secret());
    b.first = free;
    ++b.count;
    return freed::all;
  }
  void deallocate(cache& k, void* p, block_info i) noexcept {
    if (deallocate_at_once(k, p, i) == freed::all) return;
    check(p, i);
    heap_.flush(k.bins[i.cls], i.cls);
    static_cast<void>(deallocate_at_once(k, p, i));
  }

  void leave(cache& k) noexcept {
    if constexpr (ending == at_exit::flush) flush(k);
  }
  // The calling thread's cache alone: those of others are theirs.
  std::size_t trim(cache* k) noexcept { return k ? std::size_t{flush(*k)} * superblock_size : 0; }

  void add_to(statistics& s) const noexcept {
    const auto n = heap_.count();
    const std::size_t superblocks = n.opened > n.closed ? n.opened - n.closed : 0;
    const std::size_t stuck = n.stuck * superblock_size;
    s.spans += superblocks;
    s.refills += n.fills + n.opened;
    s.active += superblocks * superblock_size;
    s.cached += stuck;
    s.metadata += heap_.metadata_bytes();
    s.resident += superblocks * superblock_size + stuck + heap_.metadata_bytes();
    s.mapped += superblocks * superblock_size + stuck + heap_.waiting_bytes() + heap_.metadata_bytes();
    s.reserved += superblocks * superblock_size + stuck + heap_.waiting_bytes() + heap_.metadata_reserved();
  }

  // Nothing is locked, and every shared word is as some thread's CAS left it.
  void after_fork_child() noexcept {}

  void validate() const noexcept { static_cast<void>(heap_.walk()); }

  const heap_type& superblocks() const noexcept { return heap_; }

 private:
  std::uint32_t flush(cache& k) noexcept {
    std::uint32_t emptied = 0;
    for (unsigned c = 1; c <= size_classes::count; ++c) emptied += heap_.flush(k.bins[c], c);
    return emptied;
  }

  POLDER_ALWAYS_INLINE bool is_held(const void* p, unsigned c) const noexcept {
    return begins_a_block(p, c) && !static_cast<const mem::block*>(p)->looks_free(heap_.secret());
  }
  POLDER_ALWAYS_INLINE static bool begins_a_block(const void* p, unsigned c) noexcept {
    const std::uint32_t offset = offset_in_superblock(p);
    return mem::divides(size_classes::multiplier[c], offset) && offset < size_classes::usable_bytes[c];
  }

  [[noreturn]] void misused(const void* p) const noexcept {
    const block_info i = find(p);
    report_free(p, i, size_classes::block_size[i.cls], begins_a_block(p, i.cls));
  }

  std::uint32_t full_at_[size_classes::count + 1];  // blocks of a full bin; constant
  heap_type heap_;
};

}  // namespace polder::heap::lrmalloc
