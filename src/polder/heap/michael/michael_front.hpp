#pragma once
// michael_front — Michael's allocator as a front: size classes, processor heaps, descriptors and hyperblocks around the
// protocol of superblock_heap.hpp.
//
//   paper      Michael, PLDI 2004, section 3
//   progress   lock-free
//   in malloc  yes. In a signal handler: yes, also when it interrupted malloc or free, at any instruction. A thread may end
//              inside, at any instruction: others go on (test/progress/)
//   deviation  blocks above 32 KiB are the heap of parts' own (mem/huge_blocks.hpp) instead of a mapping with its size and a
//              low bit in the prefix: any pointer can then be told from those of others, and grown blocks move by mremap.
//              free believes the prefix only after it was compared with what the hyperblock says of the place
//
// There is nothing of a thread's own. A processor heap is chosen by size class and by the thread's identity, for which the
// address of its control block serves: hashed, since control blocks are apart by powers of two.
#include <cstddef>
#include <cstdint>
#include <new>

#include <polder/base/check.hpp>
#include <polder/heap/michael/descriptor_stack.hpp>
#include <polder/heap/michael/hyperblocks.hpp>
#include <polder/heap/michael/partial_queue.hpp>
#include <polder/heap/michael/partial_stack.hpp>
#include <polder/heap/michael/prefix.hpp>
#include <polder/heap/michael/prefixed_classes.hpp>
#include <polder/heap/michael/superblock_heap.hpp>
#include <polder/heap/parts.hpp>
#include <polder/os/processors.hpp>

namespace polder::heap::michael {

// The options of every sheet, in the order of `asked.tuned`.
enum tuned { tuned_heaps, tuned_slots, tuned_hyperblock, tuned_spare };
inline constexpr unsigned most_heaps = 64;
inline constexpr tunable tunables[] = {
    number("heaps", "0 to 64; 0: as many as processors", 0, most_heaps, 0),
    number("partial_slots", "1 to 4", 1, max_partial_slots, 1),
    bytes("hyperblock", "256K to 1M", 256 * KiB, most_heaps* place_bytes, MiB),
    number("spare_hyperblocks", "0 to 64", 0, hyperblocks::most_spare, 8),
};

enum class lost_race { frees_superblock, keeps_superblock };
enum class heaps { by_processors, one };

template <class Partials, lost_race Lost = lost_race::frees_superblock, heaps Heaps = heaps::by_processors>
class michael_front {
 public:
  using size_classes = prefixed_classes;
  using cache = no_cache;
  static constexpr bool reentrant = true;

  explicit michael_front(const heap_setting& s) noexcept
      : secret_(s.secret),
        memory_(s.memory),
        page_(s.page),
        slots_(unsigned(s.asked.tuned[tuned_slots])),
        decay_ms_(s.asked.decay_ms),
        large_(s.large),
        descriptors_(descriptor_directory_),
        hyperblocks_(s.addresses, hyperblock_directory_,
                     align_up(s.asked.tuned[tuned_hyperblock], align_up(16 * place_bytes, s.page)),
                     s.asked.decay_ms == 0 ? 0 : unsigned(s.asked.tuned[tuned_spare])),
        core_(*this) {
    if constexpr (Heaps == heaps::by_processors) {
      // Section 4.2.4: with one processor threads need not know who they are.
      const unsigned asked = unsigned(s.asked.tuned[tuned_heaps]);
      const unsigned n = asked != 0 ? asked : os::processors();
      heap_shift_ = 64 - std::uint32_t(std::bit_width((n < most_heaps ? n : most_heaps) - 1));
    }
  }

  bool begin() noexcept {
    for (unsigned c = 1; c <= size_classes::count; ++c) {
      for (unsigned i = 0; i != heap_count(); ++i) (new (&heap_at(c, i)) heap)->cls = c;
      if constexpr (Partials::needs_spare) {
        descriptor* const spare = make_descriptor();
        if (!spare) return false;
        list(c).begin(*this, spare->number);
      }
    }
    return true;
  }
  // Tables of descriptors are never given back: of a lost race of two first threads, 16 KiB remain.
  void end() noexcept {}

  POLDER_ALWAYS_INLINE void* allocate(cache&, unsigned c) noexcept {
    atomic<std::uint64_t>* const w = core_.malloc(heap_at(c, here()));
    return w ? w + 1 : nullptr;
  }

  block_info find(const void* p) const noexcept {
    block_info b;
    const std::uint32_t number = hyperblocks_.find(p, b.within);
    if (number == 0) return b;
    descriptor& d = descriptors_.at(number);
    b.cls = d.cls.get();
    b.span = d.sb.get();
    b.owner = number;
    b.record = &d;
    return b;
  }

  POLDER_ALWAYS_INLINE void deallocate(cache&, void* p, block_info b) noexcept {
    const unsigned i = check(p, b);
    word* const w = static_cast<word*>(p);
    w->store(prefix::key(address(p) - prefix_bytes, secret_), order::relaxed);
    core_.free(*static_cast<descriptor*>(b.record), i);
  }

  // Index of the live block that begins at p; does not return if there is none.
  POLDER_ALWAYS_INLINE unsigned check(const void* p, block_info b) const noexcept {
    auto& d = *static_cast<descriptor*>(b.record);
    const unsigned i = size_classes::index(b.cls, std::size_t(static_cast<const std::byte*>(p) - d.sb.get()));
    if (i >= size_classes::cuts[b.cls].capacity) [[unlikely]]
      report_free(p, b, size_classes::block_size[b.cls], false);
    const word& w = static_cast<const word*>(p)[-1];
    const std::uint64_t bits = w.load(order::relaxed);
    if (bits != prefix::live(&d)) [[unlikely]]
      report_prefix(p, b, prefix::read(bits, &d, address(&w), secret_));
    return i;
  }

  void leave(cache&) noexcept {}
  std::size_t trim(cache*) noexcept { return hyperblocks_.trim(page_); }

  void add_to(statistics& s) const noexcept {
    std::size_t free_bytes = 0, clean_bytes = 0;
    hyperblocks_.each([&](const auto& h) {
      s.mapped += hyperblocks_.bytes_each();
      std::uint32_t before = 0;
      const std::uint64_t clean = h.clean.load(order::relaxed);
      for (unsigned i = 0; i != hyperblocks_.bytes_each() / place_bytes; ++i) {
        const std::uint32_t number = h.superblock[i].load(order::relaxed);
        if (number == 0) ((clean >> i & 1) != 0 ? clean_bytes : s.cached) += place_bytes;
        if (number != 0 && number != before) {
          const descriptor& d = descriptors_.at(number);
          const auto& cut = size_classes::cuts[d.cls.get()];
          const auto a = d.anchor.load(order::relaxed);
          s.active += cut.bytes;
          s.allocated += std::size_t{cut.capacity} * size_classes::block_size[d.cls.get()];
          free_bytes += std::size_t{a.count()} * size_classes::block_size[d.cls.get()];
          ++s.spans;
        }
        before = number;
      }
    });
    for (unsigned c = 1; c <= size_classes::count; ++c)
      for (unsigned i = 0; i != heap_count(); ++i)
        if (const auto a = heap_at(c, i).active.load(order::relaxed))
          free_bytes += (a.credits() + 1) * size_classes::block_size[c];
    s.allocated -= free_bytes < s.allocated ? free_bytes : s.allocated;
    const std::size_t own = descriptors_.bytes() + hyperblocks_.metadata_bytes();
    s.metadata += own;
    s.mapped += own;
    s.reserved = s.mapped;
    s.resident = s.mapped - clean_bytes;
  }

  void after_fork_child() noexcept {}
  void validate() const noexcept;

  // ---- for tests ----------------------------------------------------------------------------------------------------
  using descriptor = descriptor_of<anchor_word<>, std::byte*>;
  using heap = typename descriptor::heap;
  unsigned heap_count() const noexcept { return heap_shift_ == 64 ? 1 : 1u << (64 - heap_shift_); }
  const heap& heap_at(unsigned c, unsigned i) const noexcept { return heaps()[c * most_heaps + i]; }
  const hyperblocks& hyperblocks_part() const noexcept { return hyperblocks_; }
  std::size_t descriptor_bytes() const noexcept { return descriptors_.bytes(); }
  static constexpr std::size_t descriptor_size = sizeof(descriptor);

  // ---- the parts of superblock_heap ---------------------------------------------------------------------------------
  using partials = Partials;
  using word = atomic<std::uint64_t>;
  static constexpr unsigned max_credits = active_word<descriptor>::max_credits;
  static constexpr bool keeps_lost_superblock = Lost == lost_race::keeps_superblock;

  unsigned slots() const noexcept { return slots_; }
  descriptor& at(std::uint32_t number) noexcept { return descriptors_.at(number); }
  partials& list(unsigned c) noexcept { return lists_[c]; }
  static constexpr unsigned capacity(unsigned c) { return size_classes::cuts[c].capacity; }

  descriptor* take_descriptor() noexcept {
    if (descriptor* const d = available_.take()) return d;
    return make_descriptor();
  }
  void retire(descriptor& d) noexcept { available_.retire(d); }
  bool open(descriptor& d, unsigned c) noexcept {
    large_.age(decay_ms_);
    std::byte* const sb = hyperblocks_.take(size_classes::cuts[c].bytes / place_bytes, d.number);
    if (sb == nullptr) return false;
    d.sb.set(sb);
    memory_.rise(size_classes::cuts[c].bytes);
    return true;
  }
  void organize(descriptor& d, unsigned c) noexcept {
    std::byte* at = d.sb.get() + size_classes::offset(c, 0) - prefix_bytes;
    for (unsigned i = 0; i != capacity(c); ++i, at += size_classes::cuts[c].size)
      reinterpret_cast<word*>(at)->store(prefix::fresh(i + 1, address(at), secret_), order::relaxed);
  }
  void close(std::byte* sb, unsigned c) noexcept {
    hyperblocks_.give(sb, size_classes::cuts[c].bytes / place_bytes);
    memory_.fall(size_classes::cuts[c].bytes);
  }

  POLDER_ALWAYS_INLINE static word& word_of(descriptor& d, unsigned i) noexcept {
    return *reinterpret_cast<word*>(d.sb.get() + size_classes::offset(d.cls.get(), i) - prefix_bytes);
  }
  static unsigned next(std::uint64_t bits) noexcept { return prefix::next(bits); }
  std::uint64_t freed(descriptor& d, unsigned i, unsigned next) const noexcept {
    return prefix::freed(next, address(&word_of(d, i)), secret_);
  }
  static std::uint64_t live(descriptor& d) noexcept { return prefix::live(&d); }
  // `bits` was the prefix of a block that was free, when it was popped.
  POLDER_ALWAYS_INLINE void popped(descriptor& d, const word& w, std::uint64_t bits) const noexcept {
    const bool whole =
        prefix::is_free(bits, address(&w), secret_) &&
        (!prefix::is_freed(bits) || (&w)[1].load(order::relaxed) == prefix::key(address(&w), secret_));
    if (!whole) [[unlikely]]
      report_overwritten(d, w);
  }

 private:
  static constexpr std::uint32_t descriptors_per_table = 256;  // a superblock of 16 KB full of them
  static constexpr std::uint32_t descriptor_tables = 1u << 16;
  using descriptor_table = mem::record_table<descriptor, descriptors_per_table, descriptor_tables>;
  static_assert(sizeof(descriptor) == 64);

  // The calling thread's processor heap.
  POLDER_ALWAYS_INLINE unsigned here() const noexcept {
    if (Heaps == heaps::one || heap_shift_ == 64) return 0;
    return unsigned(address(__builtin_thread_pointer()) * 0x9e37'79b9'7f4a'7c15 >> heap_shift_);
  }
  heap* heaps() const noexcept { return reinterpret_cast<heap*>(const_cast<std::byte*>(heap_memory_)); }
  heap& heap_at(unsigned c, unsigned i) noexcept { return heaps()[c * most_heaps + i]; }

  descriptor* make_descriptor() noexcept {
    const std::uint32_t number = descriptors_.add();
    if (number == 0) return nullptr;
    descriptor& d = descriptors_.at(number);
    d.number = number;
    d.node.set(number);
    return &d;
  }

  [[gnu::cold]] POLDER_NOINLINE static void report_prefix(const void* p, block_info b, life seen) noexcept {
    if (seen == life::overwritten)
      mem::report(mem::misuse::corrupted, p,
                  {.block_size = size_classes::block_size[b.cls],
                   .span = b.span,
                   .cls = b.cls,
                   .owner = b.owner,
                   .remark = "its prefix was overwritten, from the block before"});
    if (seen == life::fresh) b.cls = 0;  // never handed out
    report_free(p, b, b.cls != 0 ? size_classes::block_size[b.cls] : 0, true);
  }
  [[gnu::cold]] POLDER_NOINLINE static void report_overwritten(descriptor& d, const word& w) noexcept {
    mem::report(mem::misuse::corrupted, &w + 1,
                {.block_size = size_classes::block_size[d.cls.get()],
                 .span = d.sb.get(),
                 .cls = d.cls.get(),
                 .owner = d.number,
                 .remark = "it, or the prefix before it, was overwritten while it was free"});
  }

  std::uint64_t secret_;
  high_water& memory_;  // told of superblocks, not of what lies open beside them in hyperblocks
  std::size_t page_;
  unsigned slots_;
  std::uint32_t decay_ms_;
  mem::huge_blocks& large_;
  std::uint32_t heap_shift_ = 64;  // 64: one heap
  descriptor_stack<descriptor> available_;
  descriptor_table descriptors_;
  hyperblocks hyperblocks_;
  Partials lists_[size_classes::count + 1];
  superblock_heap<michael_front> core_;
  // All-zero memory, written where it is used alone.
  alignas(false_sharing_range) std::byte heap_memory_[(size_classes::count + 1) * most_heaps * sizeof(heap)];
  alignas(cache_line) std::byte descriptor_directory_[descriptor_table::directory_bytes];
  alignas(cache_line) std::byte hyperblock_directory_[hyperblocks::directory_bytes];
};

// Every superblock that a hyperblock knows: its free list is as long as its anchor and its heap's credits say, and all
// that is free looks free.
template <class Partials, lost_race Lost, heaps Heaps>
void michael_front<Partials, Lost, Heaps>::validate() const noexcept {
  hyperblocks_.each([&](const auto& h) {
    for (unsigned place = 0; place != hyperblocks_.bytes_each() / place_bytes;) {
      const std::uint32_t number = h.superblock[place].load(order::relaxed);
      if (number == 0) {
        ++place;
        continue;
      }
      descriptor& d = descriptors_.at(number);
      const unsigned c = d.cls.get();
      const auto a = d.anchor.load(order::relaxed);
      must(d.number == number && d.sb.get() == h.base.load(order::relaxed) + place * place_bytes);
      must(a.state() != fill::empty);
      unsigned free = a.count();
      unsigned active_in = 0;
      for (unsigned i = 0; i != heap_count(); ++i) {
        const auto w = heap_at(c, i).active.load(order::relaxed);
        if (!w || w.descriptor() != &d) continue;
        ++active_in;
        free += w.credits() + 1;
      }
      must(active_in == (a.state() == fill::active ? 1 : 0));
      must((a.state() == fill::full) == (free == 0));
      must(free <= capacity(c));
      unsigned at = a.avail();
      for (; free != 0; --free) {
        must(at < capacity(c));
        const word& w = word_of(d, at);
        const std::uint64_t bits = w.load(order::relaxed);
        must(prefix::is_free(bits, address(&w), secret_));
        at = prefix::next(bits);
      }
      place += size_classes::cuts[c].bytes / unsigned(place_bytes);
    }
  });
}

}  // namespace polder::heap::michael
