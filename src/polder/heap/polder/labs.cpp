// core: how it comes to be, and where LABs come from, rest and go.
#include <bit>
#include <new>

#include <polder/base/has_passed.hpp>
#include <polder/heap/polder/core.hpp>
#include <polder/os/cgroup.hpp>
#include <polder/os/clock.hpp>
#include <polder/os/ended_thread.hpp>
#include <polder/os/entropy.hpp>
#include <polder/os/heavy_fence.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/probe.hpp>
#include <polder/os/processors.hpp>
#include <polder/os/thread_name.hpp>
#include <polder/sync/next_number.hpp>

namespace polder::heap {

struct core::front {
  static constexpr std::size_t map_at = align_up(sizeof(core), cache_line);
  static constexpr std::size_t huge_at = map_at + mem::radix_map::root_bytes;
  static constexpr std::size_t labs_at = huge_at + mem::huge_blocks::directory_bytes;
  static constexpr std::size_t bytes = labs_at + (max_labs / labs_per_grain + 1) * sizeof(atomic<lab*>);
};

core* core::create(const options& o) noexcept {
  const std::size_t system_page = os::page_size();
  const std::size_t page = o.page_size > system_page ? o.page_size : system_page;
  const mem::arena::reservation r = mem::arena::reserve(front::bytes, o.arena_size, page);
  if (!r.start) return nullptr;
  return new (r.front) core(r, o);
}

// Where small pages are larger, a huge one is 32 MiB or more, which no block fills. And who wants memory back at once wants no
// more of it than is touched.
static bool wants_huge_pages(const mem::arena::reservation& r, const options& o) {
  return o.thp == thp_policy::large && r.page == 4 * KiB && o.decay_ms != 0;
}

// Of huge blocks: buffers that come and go, as those of array programs do, would be faulted in each time. Not where room is limited.
static std::size_t kept_while_unwanted(const mem::arena::reservation& r) { return r.limited ? 0 : 128 * MiB; }

core::core(const mem::arena::reservation& r, const options& o) noexcept
    : options_(o),
      secret_(os::process_secret()),
      heavy_fences_(os::register_heavy_fence()),
      processors_(os::processors()),
      process_(os::own_process_number()),
      watched_(o.hardened),
      asks_for_huge_pages_(wants_huge_pages(r, o)),
      has_huge_pages_(true),
      cgroup_limit_(o.cgroup ? os::cgroup_memory_limit() : os::no_limit),
      budget_(r.front_bytes),
      arena_(r, r.front + front::map_at, budget_),
      grains_(arena_, asks_for_huge_pages_),
      huge_(arena_.map(), r.page, r.front + front::huge_at, budget_, asks_for_huge_pages_,
            mem::huge_blocks::most::some, kept_while_unwanted(r)),
      none_{},
      lab_blocks_(reinterpret_cast<atomic<lab*>*>(r.front + front::labs_at)) {
  none_.free = mem::list_end();
  options_.arena_size = r.arena_bytes;
  options_.page_size = r.page;
  thins_.store(may_thin(), order::relaxed);
  if (o.hardened && o.guard_rate != 0) guarded_.start(r.page, secret_);
  if (by_node()) {
    topology_.read_configured();
    if (topology_.nodes() == 1) options_.numa = numa_policy::off;  // and no more is asked
  }
  if (o.thp != thp_policy::madvise)
    has_huge_pages_ = os::advise_huge_pages(arena_.base(), arena_.bytes(), o.thp == thp_policy::on);
  set_limit(o.limit);
  set_target(o.target);
}

lab& core::lab_at(mem::lab_number n) const noexcept {
  return lab_blocks_[n / labs_per_grain].load(order::acquire)[n % labs_per_grain];  // sync: installed
}

// One without a thread, like those that a thread has left: whoever looks at all LABs may find it before the caller takes it.
lab* core::make_lab(mem::site s) noexcept {
  const auto make = [&]() -> lab* {
    mem::trail anywhere;
    const mem::grain_pool::run r = grains_.take(1, anywhere, s);
    if (r.first == 0) return nullptr;
    std::byte* const fresh = arena_.address_of(r.first);
    if (!r.zero) __builtin_memset(fresh, 0, mem::grain_size);
    arena_.words()[r.first].store(mem::word::metadata, order::relaxed);
    return reinterpret_cast<lab*>(fresh);
  };
  const auto discard = [&](lab* fresh) {
    const mem::grain g = arena_.find(address(fresh));
    arena_.words()[g].store(0, order::relaxed);
    static_cast<void>(grains_.give(g, 1));
  };
  const mem::lab_number number = next_number(labs_, max_labs, lab_blocks_, labs_per_grain, make, discard);
  if (number == 0) return nullptr;
  grains_.expect(number);
  lab& l = lab_at(number);
  l.base = base_of_fast_paths();
  l.secret = secret_;
  l.words = arena_.words();
  l.spans = arena_.spans();
  l.number = number;
  l.site.store(s, order::relaxed);
  l.random.seed(secret_ + number);
  l.until_guarded = guarded_after(l);
  note_opened(l);
  for (auto& s : l.direct) s = &none_;
  for (auto& s : l.counted) s = &none_;
  for (auto& s : l.hot) s = &none_;
  decide_what_stays(l);
  if (!keeps_nothing()) l.shelved.give_it_room();
  l.swept.store(1, order::relaxed);
  l.watched = watched_.load(order::relaxed);
  l.door.make(lab::direct_limit + 1, mem::word::tag(number));  // last: nobody touches one before
  return &l;
}

// A LAB without a thread, now the caller's; null: none. Those that somebody drains, or that are reserved, are put back when the
// search is over: who stops while it drains one, or ends there, must not hide those that lie below.
lab* core::pop_idle(index_stack& from, std::uint32_t thread) noexcept {
  const auto links = [this](std::uint32_t n) -> atomic<std::uint32_t>& { return lab_at(n).next_idle; };
  mem::lab_number first = 0, last = 0;
  lab* found = nullptr;
  while (const mem::lab_number n = from.pop(links)) {
    lab& l = lab_at(n);
    // Its thread gave it away, and may be about to enter all the same until it has ended.
    const std::uint32_t former = l.door.reserved_for();
    if (former != gate::unnumbered && os::has_ended(process_.load(order::relaxed), former)) l.door.lift(former);
    if (l.door.try_acquire(thread)) {
      l.offered.store(0, order::relaxed);
      found = &l;
      break;
    }
    l.next_idle.store(first, order::relaxed);
    first = n;
    if (last == 0) last = n;
  }
  if (first != 0) from.push_list(first, last, links);
  return found;
}

// By whoever took its thread away, or it out of the stack. It may be drained meanwhile: then `with_spans`, as it was
// when the caller held it, sends somebody on a detour.
void core::push_idle(lab& l, bool with_spans) noexcept {
  const auto links = [this](std::uint32_t n) -> atomic<std::uint32_t>& { return lab_at(n).next_idle; };
  idle_labs& idle = idle_[l.site.load(order::relaxed)];
  (with_spans ? idle.full : idle.empty).push(l.number, links);
}

// A LAB whose thread has ended, of the site. Null: none to be had.
lab* core::idle_lab(mem::site s, std::uint32_t thread) noexcept {
  idle_labs& idle = idle_[s];
  for (index_stack* from : {&idle.full, &idle.empty})
    if (lab* const l = pop_idle(*from, thread)) return l;
  return nullptr;
}

lab* core::acquire_lab(std::uint32_t thread, effort e) noexcept {
  lab* const l = find_lab(thread, e);
  if (!l) return nullptr;
  l->turned_away_since.store(0, order::relaxed);
  if (thread != gate::unnumbered) threads_.fetch_add(1, order::relaxed);
  return l;
}

bool core::is_claimed_for_long(lab& l) const noexcept {
  constexpr std::uint64_t patience = 100;  // milliseconds
  if (l.door.owner() == gate::unnumbered) return false;
  const std::uint64_t now = os::coarse_milliseconds();
  const std::uint64_t since = l.turned_away_since.load(order::relaxed);
  if (since == 0) l.turned_away_since.store(now, order::relaxed);
  return since != 0 && has_passed(patience, since, now);  // a handler may have come in between
}

bool core::give_way(lab& l) noexcept {
  const bool gone = l.door.give_way();
  if (gone) threads_.fetch_sub(1, order::relaxed);
  return gone;
}

lab* core::find_lab(std::uint32_t thread, effort e) noexcept {
  const mem::site s = site_here();
  lab* l = idle_lab(s, thread);
  if (l) return l;
  const auto make = [&]() -> lab* {
    for (attempts so_far;;) {
      if (lab* const made = make_lab(s)) return made;
      if (e == effort::little || !make_room(nullptr, mem::grain_size, so_far)) return nullptr;
    }
  };
  // One that somebody has found and drains before it is taken is for whoever comes next.
  for (; (l = make()) != nullptr; push_idle(*l, false)) {
    if (l->door.try_acquire(thread)) return l;
  }
  // No memory for another: one of any site.
  for (unsigned other = 0; !l && by_node() && other < mem::sites; ++other) l = idle_lab(mem::site(other), thread);
  return l;
}

// In a child that was made past the C library a thread is none of process_'s, nor is it in one that shares our memory, as
// vfork's does: what that acquires is its parent's when it goes on.
std::uint32_t core::number_of_caller() const noexcept {
  const bool ours = os::own_process_number() == process_.load(order::relaxed);
  return ours ? os::own_thread_number() : gate::unnumbered;
}

// Who claimed the LAB may rely on it, since its owner stays the same; to others it is a hint.
bool core::is_orphaned(const lab& l) const noexcept {
  const std::uint32_t thread = l.door.owner();
  return thread != gate::unnumbered && os::has_ended(process_.load(order::relaxed), thread);
}

// A thread that ends is often followed by another that does the same: its hot spans stay as they are until somebody wants blocks of
// their classes (adopt), or for a step of decay.
void core::release_lab(lab& l) noexcept {
  bool with_spans = true;
  if (l.door.come_in()) {  // so that no claimer comes between; if one is there, it sweeps
    if (options_.decay_ms == 0) {
      sweep(l, left::dirty);
    } else {
      empty_boxes(l);
    }
    offer(l);
    with_spans = l.owned_count != 0;
    l.door.exit();
  }
  chain strays;
  if (l.door.leave([&] { return !l.in.empty(); }, [&] { drain_held(l, strays); })) push_idle(l, with_spans);
  deliver(strays);
}

// Lets go of a LAB without a thread, whose spans are there to be adopted.
void core::settle(lab& l, chain& strays) noexcept {
  offer(l);
  l.door.settle([&] { return !l.in.empty(); }, [&] { drain_held(l, strays); });
}

// Takes over a span of class c with free blocks in it from a LAB of the same site without a thread. One, and not all that lie
// there: a thread that needs one block in its life would keep the spans of every class that one needs who comes after it.
// False: there was none, as far as it looked.
bool core::adopt(lab& l, unsigned c) noexcept {
  constexpr unsigned most_looks = 8;
  const mem::site site = l.site.load(order::relaxed);
  if (idle_[site].full.empty()) return false;
  const std::uint64_t wanted = class_bit(c);
  const mem::lab_number made = labs_made();
  mem::lab_number from = l.adopted_from;
  for (unsigned looks = 0; looks != most_looks; ++looks, ++from) {
    if (from == 0 || from > made) from = 1;
    l.adopted_from = from;
    lab& o = lab_at(from);
    const auto is_near = [&] { return o.site.load(order::relaxed) == site; };
    if ((o.offered.load(order::relaxed) & wanted) == 0 || !is_near() || !o.door.try_drain()) continue;
    // Only through the door does one see for sure what its maker wrote.
    const bool near = is_near();
    if (near && (o.partials & wanted) == 0) cool(o, c);
    const bool found = near && (o.partials & wanted) != 0;
    if (found) {
      mem::span& s = arena_.spans()[o.partial[c].first];
      unlist_partial(o, s);
      disown(o, s);
      own(l, s);
      // Who still reads the old owner posts there, and whoever empties that inbox reads this word and sends it on.
      auto& word = arena_.words()[number_of(s)];
      const std::uint32_t kept = word.load(order::relaxed) & (mem::word::sampled_bit | mem::word::thin_bit);
      word.store(mem::word::tag(l.number) | kept | c, order::release);  // sync: span-made
      list_partial(l, s);
    }
    chain strays;
    settle(o, strays);
    deliver(strays);
    if (found) return true;
  }
  return false;
}

// A hot span that stays when it runs empty saves the next allocation a refill, and costs the pages that were touched. Of a crowd
// of threads most sleep, each with such spans of all that it ever wanted: there the first of each class goes, and who comes next
// finds its pages.
void core::decide_what_stays(lab& l) noexcept { l.keeps = is_a_crowd(l.number) ? 0 : ~std::uint64_t{0}; }

// Takes in what waits in its quarantine and its inbox, sends home what waits in its outbox, and gives back what it kept.
void core::empty_boxes(lab& l) noexcept {
  if (l.held) release_confined(l);
  give_kept_run(l);
  clear_shelf(l);
  drain_own(l);
  l.out.flush_all([&](const outbox::list& list) { post_list(l, list); });
}

void core::sweep(lab& l, left how) noexcept {
  empty_boxes(l);
  for (std::uint64_t some = l.hots; some != 0; some &= some - 1) cool(l, unsigned(std::countr_zero(some)) + 1, how);
  decide_what_stays(l);
  l.swept.store(1, order::relaxed);
}

// Lets go of a LAB that was claimed: its thread has it again, if it has one that did not give it away meanwhile.
void core::end_claim(lab& l, bool without_thread, chain& strays) noexcept {
  if (!without_thread) {
    l.turned_away_since.store(0, order::relaxed);  // what its thread waits for next is not this claimer
    if (l.door.end_claim()) return;
  }
  const bool with_spans = l.owned_count != 0;
  settle(l, strays);
  push_idle(l, with_spans);
}

template <class F>
bool core::with_claimed(lab& l, F f) noexcept {
  if (!heavy_fences_) return false;
  const claim c = l.door.try_claim([] { return os::heavy_fence(); });
  if (c == claim::refused) return false;
  os::probe::claim(l.number);
  f(l);
  const bool orphaned = c == claim::held && is_orphaned(l);
  if (orphaned) l.door.inherit();
  chain strays;
  end_claim(l, orphaned || c == claim::inherited, strays);
  deliver(strays);
  return true;
}

bool core::sweep_idle(lab& l) noexcept {
  return with_claimed(l, [this](lab& claimed) { sweep(claimed, left::aged); });
}

// f(l) for a LAB without a thread; false: somebody is at it.
template <class F>
bool core::with_left(lab& l, F f) noexcept {
  if (l.door.state() != lab_state::idle || !l.door.try_drain()) return false;
  f(l);
  chain strays;
  settle(l, strays);
  deliver(strays);
  return true;
}

// Whether allocations are watched, to all LABs. A claim, refused or not, leaves the door shut, so that an owner who was inside, or
// whose LAB somebody else had just claimed, asks itself when it next comes. Where nobody can claim, all hear in their next decay step.
void core::tell_labs(lab* own) noexcept {
  if (own) hear(*own);
  for (mem::lab_number n = 1; heavy_fences_ && n <= labs_made(); ++n)
    if (lab& l = lab_at(n); &l != own) with_claimed(l, [this](lab& claimed) { hear(claimed); });
}

void core::hear(lab& l) noexcept {
  for (auto& s : l.direct) s = &none_;
  for (auto& s : l.counted) s = &none_;
  l.watched = watched_.load(order::relaxed);
  l.counts = false;
  l.until_sample = 0;
  for (unsigned c = 1; c <= classes::count; ++c) set_direct(l, c, l.hot[c]);
}

// A child of fork has the LABs of threads that are no more as these left them: hot spans in them, lists in the outbox, and an inbox that
// nobody has looked into since.
bool core::sweep_left(lab& l) noexcept {
  return may_hold_something(l) && with_left(l, [this](lab& held) { sweep(held, left::aged); });
}

// f(l) for a LAB whose thread is elsewhere, or that has none. False: that one is inside, or somebody else is at it.
template <class F>
bool core::with_unused(lab& l, F f) noexcept {
  // Who is inside refuses anyway, at the price of a membarrier; who stopped there for good does each time.
  return with_left(l, f) || (l.door.owner_is_outside() && with_claimed(l, f));
}

// Takes all that a LAB can do without, where its thread is elsewhere or it has none. Bytes that went back to the system at once.
// Spans are thinned a few at a time, some milliseconds: a thread that comes by meanwhile is turned away for no longer. All at once, of
// a gigabyte of sparse spans, would be a quarter of a second, and who works would have given its LAB away by then.
std::size_t core::strip(lab& l) noexcept {
  constexpr std::uint32_t spare_tries = 16;  // where a thread is inside just then
  std::size_t bytes = 0;
  std::uint32_t tries = spare_tries;  // no more than it takes, should its thread begin rounds of its own
  bool all = false;
  const auto some = [&](lab& held) {
    const looked had = thin_some(held, looks_at_once, thins_at_once, true);
    bytes += had.bytes;
    all = had.all;
  };
  const auto begin = [&](lab& held) {
    sweep(held, left::aged);
    held.thin_next = 0;
    tries += held.owned_count / thins_at_once;
    some(held);
  };
  if (!with_unused(l, begin)) return 0;
  for (; !all && tries != 0; --tries) with_unused(l, some);
  return bytes;
}

// The background thread's: of LABs that nobody works in, so many spans of each. Those that have been seen to the end are left
// alone until their threads come by again. True: something went back to the system, or a round goes on.
bool core::thin_idle() noexcept {
  const std::uint32_t step = step_.load(order::relaxed);
  bool moved = false;
  for (mem::lab_number n = 1; n <= labs_made(); ++n) {
    lab& l = lab_at(n);
    const std::uint32_t seen = l.seen.load(order::relaxed);
    if (step - seen < 2 || !may_be_thinned(l)) continue;
    const auto some = [&](lab& held) {
      const looked had = thin_some(held, looks_at_once, thins_at_once, true);
      moved |= had.bytes != 0 || held.thin_next != 0;
      if (had.all) held.thinned.store(seen + 1, order::relaxed);
    };
    with_unused(l, some);
  }
  return moved;
}

// Whoever is inside a LAB with something to give finds its door shut when it next comes, and tells (note_return). True: somebody
// was outside by then, and may sleep for long.
bool core::shut_doors() noexcept {
  bool outside = false;
  for (mem::lab_number n = 1; n <= labs_made(); ++n) {
    lab& l = lab_at(n);
    if (l.door.owner_is_outside() || !(may_hold_something(l) || may_be_thinned(l))) continue;
    outside |= with_claimed(l, [](lab&) {});
  }
  return outside;
}

void core::after_fork_child(lab* own) noexcept {
  for (os::background_thread& one : background_) one.forget();
  tending_.leave_at_once();
  process_.store(os::own_process_number(), order::relaxed);
  const std::uint32_t was = own->door.owner(), is = number_of_caller();
  own->door.renumber_in_child(is);
  if (own->door.state() == lab_state::claimed)
    own->turned_away_since.store(1, order::relaxed);  // by who is no more
  threads_.store(own->door.is_owned() ? 1 : 0, order::relaxed);
  const auto links = [this](std::uint32_t n) -> atomic<std::uint32_t>& { return lab_at(n).next_idle; };
  static_cast<void>(os::register_heavy_fence());
  for (idle_labs& idle : idle_) {
    static_cast<void>(idle.full.take_all(links));
    static_cast<void>(idle.empty.take_all(links));
  }
  for (mem::lab_number n = 1; n <= labs_made(); ++n) {
    lab& l = lab_at(n);
    // A LAB whose thread was inside is torn, and so is one that was held; what lies in it stays where it is.
    if (&l == own || !l.door.release_in_child(was, is)) continue;
    offer(l);
    push_idle(l, l.owned_count != 0);
  }
}

}  // namespace polder::heap
