#pragma once
// grain_pool — free grains, one by one or in runs; the span pool of the heap.
//
//   paper      Aigner et al., OOPSLA 2015, sec. 3.3: one global pool for empty spans, spread so that threads rarely meet
//   progress   lock-free: take, give and purge retry only when another thread succeeded; nobody waits
//   in malloc  yes; async-signal-safe
//   deviation  a bit a grain instead of stacks of spans: there are no links and so no ABA, neighbours coalesce, and a
//              span's memory serves large blocks as soon as it is free. Threads are kept apart by where each begins
//              to search (its trail) instead of by a stack a core. A search is bounded by the number of chunks, not
//              constant.
//
// A free grain is clean (reads as zero, holds no memory) or dirty. Who takes prefers dirty ones that it gave itself, the last
// first, then dirty ones nearby, then any, then, for a run, one that is dirty in part, then clean ones, then new chunks. purge()
// turns dirty into clean, after it has taken the grains itself, so that nobody can have them meanwhile.
//
// Where nodes matter, who takes says of which site the chunk is to be, and has all of the above among those first, a new
// chunk of the site next, and what is free in other sites' chunks only where there is no room for one.
//
// Bound: whoever takes clean grains while the dirty free ones are many (spare_allowed) purges as many first; so the
// pool holds at most that much memory which nobody can use, whatever the sizes asked for; but where the system took nothing back,
// as it does of locked memory, it is asked again when a step of decay comes, or the dirty ones are an eighth more or less. Where a cap or a target would be
// passed, all dirty ones that are in the way go first; who is still above the cap has none.
//
// Invariant: every grain is taken by exactly one holder or free; a free grain that is not dirty reads as zero. The word of a
// free one is 0, or names the class of which it is a whole list; who takes it looks, and wipes that.
#include <cstddef>
#include <cstdint>

#include <polder/mem/arena.hpp>
#include <polder/mem/run_samples.hpp>
#include <polder/mem/trail.hpp>
#include <polder/os/pages.hpp>

namespace polder::mem {

class grain_pool {
 public:
  struct run {
    grain first = 0;           // 0: none to be had
    bool zero = false;         // every byte reads as zero
    bool begins_zero = false;  // those of the first grain do
    std::uint32_t list = 0;    // the size class of which a single grain is a whole list (give); 0: of none
  };

  // huge_pages: ask for them where memory will be dense.
  explicit grain_pool(arena& a, bool huge_pages = false) noexcept : arena_(a), huge_pages_(huge_pages) {}

  // So many threads may take single grains, each for spans of every class, of which some stay nearly empty.
  void expect(std::uint32_t threads) noexcept { threads_.store(threads, order::relaxed); }

  // How much of what is taken will be touched.
  enum class density {
    sparse,  // of a single grain perhaps a page
    dense,   // most of a single grain, for its taker has filled others
    whole,  // all of a run, unless samples of other runs say that little is touched; else take() says so of two grains or more
    apart,  // of a run only what is aligned, whose taker gives the rest back: what lies between such blocks may stay empty
  };

  // When huge pages are asked for. For dense grains: at once, in a chunk that is opened for them though others have room; where the
  // system bounds what may be mapped, only as for runs. For runs: in the chunk with which `large_heap` bytes of address space are open,
  // and all later ones; never for what is apart. For sparse grains: when what is in use and a chunk more come to `large_heap` and
  // `each_thread` for each thread.
  static constexpr std::size_t large_heap = 8 * MiB, each_thread = 4 * MiB;

  static constexpr unsigned longest = longest_run;

  // Takes n grains in a row, 1 <= n <= longest. Who gives notes it in the trail.
  run take(unsigned n, trail& t, site s = no_site, density d = density::sparse) noexcept;

  // Takes the n grains that follow a run, if they are free and of its site; false: nothing changed. `zero`: they read as
  // zero.
  bool extend(grain first, unsigned have, unsigned more, bool& zero) noexcept;

  // What is known of memory that is given back: it reads as zero; it may hold anything; the same, and nobody has used it
  // for a while, so that the next step of decay may have it.
  enum class left { zero, dirty, aged };

  // Gives n grains back. False: they were not all taken. `gone`: bytes that read as zero and no longer count, if all do.
  // `list`: the class of which a single dirty one is a whole list, with its record (span::free), for whoever has it next.
  [[nodiscard]] bool give(grain first, unsigned n, left l = left::dirty, std::size_t gone = 0,
                          std::uint32_t list = 0) noexcept;

  enum class which { aged, all };
  struct purge_options {
    which what = which::aged;
    bool lazily = false;            // MADV_FREE
    std::size_t budget = SIZE_MAX;  // bytes, about
    bool splits = true;             // also parts of huge pages that are in use
    bool lazy_ones = false;         // also what the kernel may already take when it needs it
  };
  // Gives free dirty memory back to the system: what has been free since the step before, or all of it. Begins at
  // chunk `from` and leaves there where to go on, 0 when it is through. Bytes.
  std::size_t purge(const purge_options& o, chunk_number& from) noexcept;

  // Drops the contents of grains that are the caller's. Believes no kernel: a mark must have gone, that is made `at` a
  // place among them, which had better hold memory already.
  static os::discarded discard(std::byte* p, std::size_t bytes, bool lazily, std::byte* at) noexcept;

  // Before grains that are the caller's are dropped so: where that is part of a huge page which holds other grains in use, the kernel
  // must not make it whole again behind our back.
  void split_huge_pages(grain first, unsigned n) noexcept;

  // Drops pages, a bit each, of a single grain that is the caller's. False: the system keeps them; what they hold is gone all the same.
  bool discard_within(grain g, std::uint32_t pages) noexcept;

  // Gives back the address space of extra chunks that are wholly free, where it is scarce; of all, or of those that hold no memory
  // either, since nobody wanted them for a step of decay.
  void release_extra_chunks(which w) noexcept;

  struct counts {
    std::size_t taken = 0, dirty = 0;  // grains; dirty ones are free
  };
  counts count() const noexcept;  // a snapshot that may be torn

#if POLDER_CHECK_LEVEL >= 2
  // For tests, while nobody takes or gives: traps if the counts are not those of the bits, a grain is in use and dirty, or
  // dirty grains are not to be found.
  void validate() const noexcept;
#endif

 private:
  enum class want { dirty, dirty_in_part, fitting, any };
  bool suits(chunk_number c, site s) const noexcept {
    return s == no_site || arena_.chunk(c).site.load(order::relaxed) == s;
  }
  // Where so many chunks are open, or will be, and what is taken is touched.
  bool is_worth_huge_pages(density d, chunk_number open) const noexcept;
  bool is_sparse(density d) const noexcept {
    return d == density::sparse || d == density::apart || (d == density::whole && samples_.say_sparse());
  }
  bool wants_huge_pages_next(density d) noexcept;  // in the chunk that is opened for it
  void split(chunk_number c) noexcept;
  unsigned take_in(chunk_number c, unsigned n, want w) noexcept;
  grain take_back(unsigned n, trail& t, site s) noexcept;
  run take_short(unsigned n, trail& t, site s, density d) noexcept;
  run take_long(unsigned n, site s, density d) noexcept;
  unsigned free_from(grain first, unsigned wanted, site s) const noexcept;
  unsigned dirty_in(grain first, unsigned n) const noexcept;
  bool try_take_range(grain first, unsigned n) noexcept;
  run taken(grain first, unsigned n) noexcept;
  void forget_lists(chunk_number c, std::uint64_t grains) noexcept;
  static constexpr unsigned most_parts = longest / grains_per_chunk + 1;  // of a run, one in each chunk
  void put_back(grain first, unsigned n, const std::uint64_t* were_dirty) noexcept;
  bool free_part(chunk_number c, unsigned at, unsigned n, bool dirty) noexcept;
  bool free_again(chunk_number c, unsigned at, unsigned n) noexcept;
  std::size_t purge_spare(std::size_t grains, bool lazy_ones = false) noexcept;
  bool make_room(std::size_t grains) noexcept;
  grain take_dirty(unsigned n, want w, trail& t, site s) noexcept;
  void count_change(std::int64_t taken, std::int64_t dirty) noexcept;
  bool too_much_spare() const noexcept;
  bool is_stuck() const noexcept;
  void note_free(chunk_number c, site s) noexcept;
  std::size_t purge_chunk(chunk_number c, const purge_options& o) noexcept;
  template <class F>
  bool for_each_dirty_chunk(chunk_number begin, F f) noexcept;

  arena& arena_;
  bool huge_pages_;
  atomic<std::uint32_t> threads_{};  // a figure to decide by
  run_samples samples_;
  // lowest_[s][k] — no chunk of site s below it has a run of 2^k free grains, as far as is known; none of any site, where
  // s is no_site. The last two are of single grains that are dense, and that are runs, which look in other chunks than sparse
  // ones. A hint.
  //   written by  searchers (upwards), givers (downwards)
  //   order       relaxed: it decides where a search begins, never whether something is found
  static constexpr unsigned scales = 7, dense_single = scales, whole_single = scales + 1;
  static unsigned scale_of(unsigned n, density d) noexcept;
  atomic<chunk_number> lowest_[sites][scales + 2];
  // count_ — grains taken (upper half) and dirty free ones (lower half).
  //   written by  takers, givers and purgers, relaxed: a figure to steer by
  alignas(false_sharing_range) atomic<std::uint64_t> count_;
  atomic<chunk_number> spare_from_;  // where the purge of spare memory goes on
  atomic<std::uint32_t> stuck_at_;   // so many grains were dirty when the last one got nothing back; 0: it did
};

}  // namespace polder::mem
