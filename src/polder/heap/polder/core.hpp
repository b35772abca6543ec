#pragma once
// core — the flagship heap below its fast paths: everything that threads share, and every slow path of a LAB.
//
//   paper      scalloc (Aigner et al. 2015) for spans in one arena, one pool for empty spans, eager return;
//              docs/design/0001-the-flagship-heap.md for what is different and why
//   progress   lock-free. A thread that finds a LAB held by another takes another LAB; it never waits
//   in malloc  yes. In a signal handler: yes, through a LAB of its own (polder_heap.hpp)
//
// A member that takes a `lab&` may be called only by who is inside that LAB's door, or holds it (sync/lab_state.hpp).
#include <cstddef>
#include <cstdint>
#include <span>

#include <polder/heap/modes.hpp>
#include <polder/heap/options.hpp>
#include <polder/heap/polder/lab.hpp>
#include <polder/heap/polder/shelved.hpp>
#include <polder/heap/polder/tending.hpp>
#include <polder/heap/profiling.hpp>
#include <polder/heap/statistics.hpp>
#include <polder/mem/arena.hpp>
#include <polder/mem/budget.hpp>
#include <polder/mem/grain_pool.hpp>
#include <polder/mem/guarded_blocks.hpp>
#include <polder/mem/heap_profile.hpp>
#include <polder/mem/huge_blocks.hpp>
#include <polder/mem/span_pages.hpp>
#include <polder/os/background_thread.hpp>
#include <polder/os/topology.hpp>
#include <polder/sync/index_stack.hpp>

namespace polder::heap {

// What is done for a LAB where there is no memory for another. all: a trim, and who watches the cap is asked; little: nothing, for who
// can do without.
enum class effort : bool { little, all };

class core {
 public:
  // A heap in a reservation of its own; null if the system refuses even the smallest. Nothing is shared yet, so two
  // threads may each make one and the loser abandons its.
  static core* create(const options& o) noexcept;
  void abandon() noexcept { mem::arena::abandon(arena_.whole()); }

  // ---- LABs
  // Its door is shut yet; null: no memory. `thread`: whose it is, so that it can be had by others when that has ended without
  // giving it up; unnumbered: it is borrowed.
  lab* acquire_lab(std::uint32_t thread, effort e) noexcept;
  void release_lab(lab& l) noexcept;  // by its thread, outside
  // By its thread, outside, which finds it claimed. Nobody else has a LAB that was given away before that thread has ended: so it is
  // given to who was stopped while claiming it, or killed, and not to one who works.
  bool is_claimed_for_long(lab& l) const noexcept;
  bool give_way(lab& l) noexcept;                   // to who claims it; sync/lab_state.hpp
  std::uint32_t number_of_caller() const noexcept;  // unnumbered: whether it has ended could not be asked

  // ---- allocation. `zero` says what is known about the block
  void* allocate(lab& l, std::size_t n) noexcept;
  void* allocate_with_room(lab& l, std::size_t room,
                           std::size_t n) noexcept;  // room bytes, of which n are asked for
  void* allocate_zeroed(lab& l, std::size_t n) noexcept;
  void* allocate_aligned(lab& l, std::size_t alignment, std::size_t n) noexcept;
  void* reallocate(lab& l, void* p, std::size_t n) noexcept;
  void* stay_though_small(void* p,
                          std::size_t n) noexcept;  // p, where it holds n bytes; else null. No LAB is needed

  // ---- the free of a block that the fast path did not take
  void deallocate(lab& l, void* p) noexcept;
  void send_due(lab& l, mem::lab_number owner) noexcept;  // after join_list said so to a block of that LAB's
  void deallocate_without_lab(void* p) noexcept;
  void emptied(lab& l, mem::span& s) noexcept;  // its last block came back
  // The block lies where the fast path takes none for handed out, or looks free. Returns if deallocate must look.
  void check_beyond(const void* p) const noexcept;

  // True: the address is one of a guarded block's pages, and one line has said what was done there.
  bool explain_fault(const void* p) const noexcept { return guarded_.explain(p); }
  [[noreturn]] void report_free(const void* p) const noexcept;  // why p cannot be freed
  [[noreturn]] void report_corrupted(const void* p) const noexcept;
  // Does not return if p cannot be a block for which n bytes were asked: more than it holds, or so few that it would
  // lie in another class; a block that shrank in place, or has room to grow, may be up to twice as large.
  void check_size(const void* p, std::size_t n, std::size_t alignment = 1) const noexcept;
  // The same for a block of which the alignment was asked; one that is no power of two is nothing to go by.
  void check_aligned_size(const void* p, std::size_t alignment, std::size_t n) const noexcept;

  std::size_t usable_size(const void* p) const noexcept;
  bool owns(const void* p) const noexcept;

  // Returns what can be returned at once: empties idle LABs, then the pools. `own` may be null. Bytes.
  std::size_t trim(lab* own) noexcept;
  // of_classes: classes::count of them, the first of class 1; null: nobody asks.
  statistics read_statistics(class_statistics* of_classes = nullptr) const noexcept;
  // Of the LABs from number `first` on, as many as there are and as `into` has room for: how many.
  std::uint32_t read_labs(mem::lab_number first, std::span<lab_statistics> into) const noexcept;
  modes read_modes() const noexcept;

  // ---- how much it may hold, in bytes; 0: no limit, and as target what the container leaves. True: it holds more, and had
  // better be trimmed. Whoever is called back may allocate and free.
  bool set_limit(std::size_t bytes) noexcept;
  bool set_target(std::size_t bytes) noexcept;
  void on_limit(mem::budget::asked* who) noexcept { budget_.on_limit(who); }
  void on_target(mem::budget::told* who) noexcept { budget_.on_target(who); }

  // ---- the heap profile: by who is inside `own`. `mean`: bytes between two samples
  profiling start_profile(lab* own, std::uint64_t mean) noexcept;
  void stop_profile(lab* own) noexcept;
  // By who has come inside after a claim, or for the first time: it may do no more than free, and come by nowhere else.
  void note_return(lab& l) noexcept;
  bool is_profiling() const noexcept { return profiling_.load(order::relaxed) != 0; }
  const mem::heap_profile* profile() const noexcept { return profile_.load(order::acquire); }  // sync: installed
  std::size_t waste_beside(const mem::sampled_block& b) const noexcept;                        // bytes

  const options& effective_options() const noexcept { return options_; }
  void after_fork_child(lab* own) noexcept;

#if POLDER_CHECK_LEVEL >= 2
  // For tests: looks at every structure, and traps where one is not as it should be. No thread is inside or comes meanwhile;
  // while the heap's own thread runs, nothing is looked at.
  struct census {
    std::size_t blocks = 0;   // of size classes, that users have
    std::size_t guarded = 0;  // others, that they have
    std::uint32_t adrift =
        0;  // LABs without a thread that nobody will find: none, unless a test claimed one by its door
  };
  census validate() const noexcept;
#endif

 private:
  // The heap's front: this object, then directories that are large, zeroed, and touched only where they are used.
  struct front;
  core(const mem::arena::reservation& r, const options& o) noexcept;

  struct had {
    void* p = nullptr;
    bool zero = false;         // all of it
    bool begins_zero = false;  // its first page
  };

  struct chain {
    mem::block* first = nullptr;
  };

  // ---- LABs
  static constexpr unsigned labs_per_grain = unsigned(mem::grain_size / sizeof(lab));
  static constexpr unsigned max_labs = 1u << 20;
  lab& lab_at(mem::lab_number n) const noexcept;
  mem::lab_number labs_made() const noexcept { return labs_.load(order::acquire); }  // sync: number-counted
  lab* make_lab(mem::site s) noexcept;
  lab* find_lab(std::uint32_t thread, effort e) noexcept;
  lab* idle_lab(mem::site s, std::uint32_t thread) noexcept;
  lab* pop_idle(index_stack& from, std::uint32_t thread) noexcept;
  void push_idle(lab& l, bool with_spans) noexcept;
  bool adopt(lab& l, unsigned c) noexcept;
  void offer(lab& l) noexcept { l.offered.store(l.partials | l.hots, order::relaxed); }
  void settle(lab& l, chain& strays) noexcept;
  using left = mem::grain_pool::left;
  void decide_what_stays(lab& l) noexcept;
  void empty_boxes(lab& l) noexcept;
  void sweep(lab& l, left how) noexcept;  // sends the outbox, empties the inbox, gives empty spans back
  bool sweep_idle(lab& l) noexcept;       // the same for a LAB whose thread is elsewhere; false: it is busy
  template <class F>
  bool with_claimed(lab& l, F f) noexcept;  // f(l) for such a one
  void end_claim(lab& l, bool without_thread, chain& strays) noexcept;
  bool sweep_left(lab& l) noexcept;  // and for one that a thread left as it was; false: it is busy, or has been
  template <class F>
  bool with_left(lab& l, F f) noexcept;  // f(l) for one without a thread
  template <class F>
  bool with_unused(lab& l, F f) noexcept;
  std::size_t strip(lab& l) noexcept;
  bool is_orphaned(const lab& l) const noexcept;  // its thread has ended and did not give it up

  // ---- sites
  bool by_node() const noexcept { return options_.numa == numa_policy::on; }
  mem::site site_here() const noexcept {
    return by_node() ? mem::site_of_node(topology_.node_of(topology_.current_cpu())) : mem::no_site;
  }

  // ---- spans
  mem::grain number_of(const mem::span& s) const noexcept { return mem::grain(&s - arena_.spans()); }
  mem::large_run& run_at(mem::grain g) const noexcept { return arena_.run_at(g); }
  void* allocate_class(lab& l, unsigned c, bool* zero) noexcept;
  void* refill(lab& l, unsigned c, bool* zero) noexcept;
  void* refill_told(lab& l, unsigned c, bool* zero) noexcept;
  template <auto extend_by>
  void* find_block(lab& l, unsigned c, bool* zero) noexcept;
  void* pop(lab& l, mem::span& s) noexcept;
  void* take_back(lab& l, unsigned c) noexcept;
  void* take_back_or_refill(lab& l, unsigned c, bool* zero) noexcept;
  bool thread_next(lab& l, mem::span& s) noexcept;
  bool extend(lab& l, mem::span& s) noexcept;
  bool extend_thin(lab& l, mem::span& s) noexcept;
  mem::span* open_span(lab& l, unsigned c) noexcept;
  mem::span* open_early(lab& l, unsigned c) noexcept;
  bool will_fill(const lab& l, unsigned c) const noexcept;
  mem::span* try_open(lab& l, unsigned c) noexcept;
  bool leads_nearby(const mem::span& s) const noexcept;
  void make_hot(lab& l, mem::span& s) noexcept;
  void set_hot(lab& l, unsigned c, mem::span* s) noexcept;
  void set_direct(lab& l, unsigned c, mem::span* s) noexcept;
  void cool(lab& l, unsigned c, left how = left::dirty) noexcept;  // the hot span becomes full, partial or free
  void list_partial(lab& l, mem::span& s) noexcept;
  void unlist_partial(lab& l, mem::span& s) noexcept;
  void own(lab& l, mem::span& s) noexcept;
  void disown(lab& l, mem::span& s) noexcept;
  void give_grains(mem::trail* trail, mem::grain first, unsigned n, left how = left::dirty, std::size_t gone = 0,
                   unsigned list = 0) noexcept;

  // ---- pages of spans in use
  static constexpr std::uint32_t most_thins = 256;   // in a step of decay, by a thread that works
  static constexpr std::uint32_t steps_of_rest = 4;  // of a class that takes no span; up to as many more
  static constexpr unsigned looks_at_once = 1024, thins_at_once = 64;  // while a LAB is claimed
  struct looked {
    std::size_t bytes;  // given back
    bool all;  // of the LAB's spans, to none of which blocks came meanwhile; its own thread: of a round it began
  };
  std::size_t thin(lab& l, mem::span& s) noexcept;
  bool may_thin() const noexcept { return !options_.hardened && options_.page_size * 4 <= mem::grain_size; }
  looked thin_some(lab& l, unsigned looks, unsigned most, bool asleep) noexcept;
  std::size_t thin_all(lab& l) noexcept;
  bool thin_idle() noexcept;
  bool shut_doors() noexcept;
  // Its spans were not all looked at since its thread was here, or blocks came: a hint.
  bool may_be_thinned(const lab& l) const noexcept {
    return thins_.load(order::relaxed) && l.thinned.load(order::relaxed) != l.seen.load(order::relaxed) + 1;
  }
  // To spans that were looked at, perhaps, without a slow path of the thread's that would tell.
  static void note_blocks_came(lab& l) noexcept {
    l.whole_round = false;
    l.thinned.store(0, order::relaxed);
  }
  void list_free(mem::span& s, const mem::span_pages& pages, mem::span_pages::range of,
                 std::uint32_t returned) noexcept;
  void note_returned(mem::span& s, std::uint32_t returned) noexcept;
  void list_page(mem::span& s, std::uint32_t& returned, std::uint32_t some) noexcept;
  bool take_pages_back(mem::span& s) noexcept;
  bool do_without_page(lab& l, unsigned c) noexcept;
  void give_span(lab& l, const mem::span& s, left how = left::dirty) noexcept;
  bool is_returned(const void* p) const noexcept;

  // ---- frees
  void free_own(lab& l, mem::span& s, std::uint32_t w, mem::block* b) noexcept;
  void reopen(lab& l, mem::span& s, std::uint32_t w) noexcept;
  mem::block* take_down(lab& l, unsigned c) noexcept;
  void clear_shelf(lab& l) noexcept;
  void free_remote(lab& l, void* p, std::uint32_t w) noexcept;
  void free_alone(lab& l, mem::grain g, std::uint32_t w, mem::block* b) noexcept;
  void free_huge(const void* p) noexcept;
  void free_large(lab* l, mem::grain g, const void* p) noexcept;
  void* take_kept_run(lab& l, std::size_t n, std::size_t alignment) noexcept;
  void give_kept_run(lab& l) noexcept;
  [[noreturn]] void report_size(const void* p) const noexcept;
  bool is_listed(const mem::span& s, const mem::block* b) const noexcept;
  bool may_wait(const mem::block* b) const noexcept;
  // Of a block of this heap's, in a span.
  std::uint32_t word_of(const mem::block* b) const noexcept {
    return arena_.words()[arena_.find(address(b))].load(order::acquire);  // sync: span-made
  }
  bool is_free(std::uint32_t w, const void* p) const noexcept;
  void check_live(std::uint32_t w, const void* p) const noexcept;
  bool is_a_crowd(std::uint32_t threads) const noexcept;
  bool waits_for_a_processor(const lab& o) noexcept;
  void service(lab& l) noexcept;
  void note_step(lab& l) noexcept;
  void look_at_the_clock(lab& l) noexcept {
    if (l.is_time_to_look()) decay();
    ++l.beyond;
  }
  // Of others' blocks, in quarantine, or a run: whoever takes that out sweeps, and nobody may come by here for long.
  void note_kept(lab& l) noexcept {
    if (l.swept.load(order::relaxed) == 0) [[likely]]
      return;
    l.swept.store(0, order::relaxed);
    have_it_tended();
  }
  void note_opened(lab& l) noexcept;
  void drain(lab& l, chain& strays) noexcept;
  void drain_held(lab& l, chain& strays) noexcept { drain(l, strays), offer(l); }  // of a LAB without a thread
  void drain_own(lab& l) noexcept;
  void post(mem::lab_number owner, mem::block* first, mem::block* last, std::uint32_t bytes) noexcept;
  void post_list(lab& from, const outbox::list& list) noexcept;
  void put_up_signposts(const outbox::list& list) noexcept;
  void post_to(mem::lab_number owner, mem::block* first, mem::block* last, std::uint32_t bytes,
               chain& strays) noexcept;
  void deliver(chain& strays) noexcept;

  // ---- large and huge
  had allocate_large(lab& l, std::size_t n, std::size_t alignment) noexcept;
  void* allocate_large_zeroed(lab& l, std::size_t n) noexcept;
  had try_large(mem::trail& trail, std::size_t n, std::size_t alignment) noexcept;
  void* try_in_place(const void* p, std::size_t n) noexcept;
  void note_asked(const void* p, std::size_t n) noexcept;
  std::uint32_t huge_number_of(const void* p) const noexcept;

  // ---- hardened (options_.hardened): every operation comes through here, none is served by the fast paths
  void* allocate_hardened(lab& l, std::size_t n) noexcept;
  void* allocate_guarded(lab& l, std::size_t n) noexcept;
  void* allocate_zeroed_hardened(lab& l, std::size_t n) noexcept;
  void* allocate_untouched(lab& l, unsigned c) noexcept;
  void* refill_at_random(lab& l, unsigned c) noexcept;
  bool extend_at_random(lab& l, mem::span& s) noexcept;
  std::uint32_t guarded_after(lab& l) const noexcept;
  void confine(lab& l, std::uint32_t w, void* p) noexcept;
  quarantine* quarantine_of(lab& l) noexcept;
  void let_go(lab& l, mem::block* b) noexcept;
  void release_confined(lab& l) noexcept;
  left emptied_at_once(std::byte* p, std::size_t bytes, left how) noexcept;
  // From where a free finds its block in the arena; hardened, from no address does it, and all go the slow way.
  std::byte* base_of_fast_paths() const noexcept {
    return options_.hardened ? at_address(std::uintptr_t{1} << 63) : arena_.base();
  }
  // Free memory is neither cached nor left as it was. more: bytes about to be taken.
  bool keeps_nothing(std::size_t more = 0) const noexcept {
    return options_.decay_ms == 0 || options_.hardened || budget_.is_short(more);
  }

  // ---- watched: every allocation comes here, because the heap is hardened or its profile is on
  void* allocate_watched(lab& l, std::size_t n, std::size_t asked) noexcept;
  void* allocate_zeroed_watched(lab& l, std::size_t n) noexcept;
  void* allocate_unwatched(lab& l, std::size_t n) noexcept;
  void* allocate_zeroed_unwatched(lab& l, std::size_t n) noexcept;
  bool watches() const noexcept { return watched_.load(order::relaxed) != 0; }
  void tell_labs(lab* own) noexcept;
  void hear(lab& l) noexcept;
  // By who has come inside, and may have been turned away by who tells of it.
  void ask_whether_watched(lab& l) noexcept {
    if (l.watched != watched_.load(order::relaxed)) [[unlikely]]
      hear(l);
  }

  // ---- samples
  void* counted(lab& l, void* p, std::size_t n) noexcept;
  void* counted(lab& l, void* p, std::size_t n, std::size_t fresh) noexcept;
  void draw(lab& l, void* p, std::size_t n, std::size_t fresh) noexcept;
  std::uint32_t forget(mem::lab_number self, mem::grain g, std::uint32_t w, const void* p) noexcept;
  bool forget(const void* p) noexcept;
  void* resize_sampled(lab& l, mem::heap_profile& profile, void* p, std::size_t n) noexcept;

  bool make_room(lab* own, std::size_t wanted, attempts& so_far) noexcept;
  void relieve(lab& l, std::size_t wanted) noexcept;

  enum class who : bool { at_work, tends };
  void decay(who = who::at_work) noexcept;
  void have_it_tended() noexcept;
  bool is_tended() const noexcept { return background_[0].runs() || background_[1].runs(); }
  void tend() noexcept;
  bool amid_a_step() const noexcept {
    return purge_from_.load(order::relaxed) != 0 || sweep_from_.load(order::relaxed) != 0;
  }
  // What could be given back some time; and `taken`, so that it tells whether anybody was at work.
  struct givable {
    std::size_t taken = 0, dirty = 0;   // grains
    std::size_t cached = 0;             // bytes
    std::size_t labs = 0, waiting = 0;  // that may hold something; bytes in their inboxes
    bool is_nothing() const { return dirty == 0 && cached == 0 && labs == 0; }
    bool operator==(const givable&) const = default;
  };
  givable what_is_left_to_give() const noexcept;
  // Something came since a sweep, by its owner or from others: a hint.
  static bool may_hold_something(const lab& l) noexcept { return !l.swept.load(order::relaxed) || !l.in.empty(); }

  // ---- statistics
  struct waiting_blocks;
  template <class Visitor>
  void for_each_use(Visitor& v) const noexcept;
  void count_waiting(waiting_blocks& into) const noexcept;
  bool some_wait(unsigned c) const noexcept;

#if POLDER_CHECK_LEVEL >= 2
  // Blocks of its spans that are outside; the same in one.
  std::size_t validate(const lab& l) const noexcept;
  std::size_t validate(const lab& l, const mem::span& s) const noexcept;
  // Blocks on their way home from it, or to it.
  std::size_t validate_posts(const lab& l) const noexcept;
  void validate_waiting(std::size_t blocks) const noexcept;
  std::uint32_t validate_idle() const noexcept;
  struct found {
    std::size_t grains = 0, spans = 0;  // that words tell of
  };
  found validate_words() const noexcept;
  void validate_list(mem::grain g, std::uint32_t w) const noexcept;
  template <class F>
  void for_each_lab(F f) const noexcept;
#endif

  options options_;
  mem::secret secret_;
  // thins_ — pages of spans in use can be given back.
  //   written by  who makes the heap; who finds that the system keeps them; who begins a step of decay: they may be locked no more
  //   read by     whoever would
  //   order       relaxed
  atomic<bool> thins_;
  bool heavy_fences_;    // membarrier works: LABs of idle threads can be claimed
  unsigned processors_;  // when the heap was made, mostly by a thread that nobody has bound to one of them yet
  // process_ — whose threads the LABs' owners are, as the kernel numbers it.
  //   written by  who makes the heap, and by the only thread of a forked child
  //   read by     anybody
  //   order       relaxed: a child's threads begin later
  atomic<std::uint32_t> process_;
  // kept_though_small_ — for want of memory realloc has left a block where it lay, of which little was still wanted: since then
  // a block may be freed with a size that is far below what it holds.
  //   written by  who did so, before the block's user hears of it
  //   read by     who frees a block with its size; that is told of the block by its user
  //   order       relaxed: on the way from one to the other lies whatever hands the block over
  atomic<bool> kept_though_small_{};
  // watched_, profiling_ — whether allocations come past the fast paths; whether they are counted.
  //   written by  who starts or stops the profile
  //   read by     every slow path
  //   order       relaxed: LABs are told one by one (tell_labs)
  atomic<std::uint32_t> watched_{};
  atomic<std::uint32_t> profiling_{};
  atomic<mem::heap_profile*> profile_{};  // once there was one. order: installed
  bool asks_for_huge_pages_;
  bool has_huge_pages_;       // as far as it asked
  std::size_t cgroup_limit_;  // os::no_limit: none, or not looked for
  mem::budget budget_;
  mem::arena arena_;
  mem::grain_pool grains_;
  mem::huge_blocks huge_;
  mem::guarded_blocks guarded_;
  mem::span none_;  // stands for "no hot span": it never has a free block

  // lab_blocks_ — LABs, a grain of them at a time, never given back.
  //   order  installed: zeroed LABs
  //          number-counted (labs_): who counts a LAB has its grain; who reads the count finds it
  atomic<lab*>* lab_blocks_;
  alignas(false_sharing_range) atomic<std::uint32_t> labs_{0};  // made so far
  // threads_ — that have had a LAB, since the start or the fork that made this process.
  //   written by  who gets a LAB of its own, and who gives way and will get another
  //   order       relaxed: a figure
  atomic<std::uint32_t> threads_{0};
  struct idle_labs {
    index_stack full;   // without a thread, with spans
    index_stack empty;  // without a thread, most without spans
  } idle_[mem::sites];  // by the LAB's site

  // ---- decay
  alignas(false_sharing_range) atomic<std::uint64_t> last_decay_;  // milliseconds
  atomic<std::uint32_t> step_;                                     // decay steps so far
  atomic<mem::chunk_number> purge_from_;                           // where the current step goes on
  atomic<std::uint32_t> sweep_from_;                               // the LAB it looks at next

  atomic<std::uint64_t> relieved_;  // milliseconds: when everything was last given back on account of the target

  // Blocks by class that were freed where no LAB could be had: written by who does so, read for statistics, relaxed.
  atomic<std::uint64_t> sent_without_lab_[classes::count + 1]{};

  tending tending_;  // `coming` where no background_ runs was left by a starter that was killed: as untended
  // One tends the heap where nobody else does; the one before may be about to end.
  os::background_thread background_[2];

  os::topology topology_;  // read where by_node()
};

}  // namespace polder::heap
