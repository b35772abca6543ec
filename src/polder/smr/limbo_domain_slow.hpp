#pragma once
// limbo_domain_slow — what a domain does now and then: seats are taken and left, grace periods end, what is safe is freed.
//
// limbo_domain_whole.hpp includes it, or schemes.cpp has it compiled.
#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <new>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/os/thread_name.hpp>
#include <polder/os/timeline.hpp>
#include <polder/smr/between_tries.hpp>
#include <polder/smr/limbo_domain.hpp>

// Polder's own, if it is the process's heap (include/polder.h).
extern "C" [[gnu::weak]] void polder_free_batch(void** blocks, std::size_t count) noexcept;

namespace polder::smr {

template <class Core>
limbo_domain<Core>::limbo_domain(const options& chosen)
    : core_(chosen.scheme), options_(chosen), background_(ledger_, chosen.watch) {
  watch();
}

template <class Core>
limbo_domain<Core>::~limbo_domain() {
  background_.stop();
  unwatch();
  if (const unsigned open = members_inside())
    misused(Core::info.name, "a domain was destroyed while threads hold guards of it: ", open, "");
#if POLDER_CHECK_LEVEL > 0
  if (const std::uint64_t left = statistics().unreclaimed())
    misused(Core::info.name, "a domain was destroyed with retired objects, drain() comes first: ", left, "");
#endif
  // No guard is open, so everything is safe; deleters may retire more.
  for (bool some = true; some;) {
    some = false;
    for (member* m = members_.first(); m != nullptr; m = m->next) {
      m->bags.take_back(collected_);
      background_.take_back(m->bags.safe);
      m->bags.all_are_safe([&](const entry& e) { free(*m, e); });
      some = some || !m->bags.empty();
      free_all(*m);
    }
  }
}

template <class Core>
void limbo_domain<Core>::close_mine() noexcept {
  member* const m = members_.find(thread_slot::held());
  if (m == nullptr || !m->is_inside())
    misused(Core::info.name, "a guard was closed that this thread does not hold");
  close(*m);
}

template <class Core>
void limbo_domain<Core>::synchronize() {
  outside("synchronize");
  core_.synchronize(members_);
}

template <class Core>
void limbo_domain<Core>::drain() {
  outside("drain");
  const thread_slot::one_call of_this;
  if (background_.is(thread_slot::mine()))
    misused(Core::info.name, "drain() in a deleter that the domain's own thread runs would wait for itself");
  const os::holding one_at_a_time(drain_lock_);
  std::uint64_t retired, handed_over;
  do {
    background_.finish();  // what its deleters retired lies in its thread's seat then
    retired = retired_in_background();
    core_.before_collecting(members_);
    collect();
    handed_over = background_.handed_over_by_others();
    free_collected();
    background_.finish();
    // What its deleters retired meanwhile is freed too, unless others go on: there would be no end.
  } while (retired_in_background() != retired && background_.handed_over_by_others() == handed_over);
}

template <class Core>
void limbo_domain<Core>::free_collected() {
  const while_stepping here_too(here());  // so that nothing of this goes to the background
  for (bool done = false; !done;) {
    {
      member& m = open();
      background_.take_back(m.bags.safe);
      m.bags.surrender(collected_);
      close(m);
    }
    core_.outlast(members_);
    member& m = open();
    const bool held = core_.settle(members_, m, collected_, m.bags.safe, [&](const entry& e) { free(m, e); });
    free_all(m);
    done = m.bags.empty() && !held;
    m.bags.take_back(collected_);
    close(m);
    if (held) between_tries(core_.fences);
  }
}

template <class Core>
std::uint64_t limbo_domain<Core>::retired_in_background() const noexcept {
  garbage seen;
  for (member* m = members_.first(); m != nullptr; m = m->next) {
    if (background_.is(m->number)) m->bags.count.add_to(seen);
  }
  return seen.retired;
}

template <class Core>
void limbo_domain<Core>::detach() noexcept {
  if (member* const m = members_.find(thread_slot::held())) part(*m);
}

template <class Core>
garbage limbo_domain<Core>::statistics() const noexcept {
  garbage all;
  for (member* m = members_.first(); m != nullptr; m = m->next) m->bags.count.add_to(all);
  background_.count().add_to(all);
  return all;
}

template <class Core>
stall limbo_domain<Core>::longest_stall() {
  core_.press(members_);
  const os::holding one_at_a_time(stalls_lock_);
  return oldest_obstacle();
}

template <class Core>
typename limbo_domain<Core>::member& limbo_domain<Core>::here() {
  member* const m = members_.find(thread_slot::mine());
  return m != nullptr ? *m : join();
}

template <class Core>
typename limbo_domain<Core>::member& limbo_domain<Core>::join() {
  member& m = members_.join(thread_slot::mine(), *this);
  m.fleeting = thread_slot::fleeting();
  m.unfinished = m.fleeting;
  m.thread.store(os::own_thread_number(), order::relaxed);
  return m;
}

// The seat was claimed while its thread was outside: it opens its guard in another one, unless the claim is over first. Who
// had that one before may have owed a call. The seat that it leaves says nothing any more: QSBR would wait for its word.
template <class Core>
typename limbo_domain<Core>::member& limbo_domain<Core>::elsewhere(member& was) {
  member* m = &was;
  do {
    core_.leave(*m);
    m->seat.vacate();
    if (m->gate.walk_away()) {
      members_.forget(thread_slot::mine());
      m = &join();
    }
    core_.enter(*m);
  } while (!m->gate.still_mine());
  if (std::exchange(m->depth, 1) == member::owing) or_close(*m, [&] { tell_of_the_bound(*m); });
  return *m;
}

template <class Core>
void limbo_domain<Core>::step(member& m) {
  if (m.stepping) return;  // a deleter retires
  const while_stepping once(m);
  core_.step(members_, m, [&] { free_ripe(m); });
  free_ripe(m);
  if (orphans_.some()) adopt_some(m);
  if (over_bound(m)) [[unlikely]] {
    for (unsigned n = 0; n != Core::tries && over_bound(m); ++n) {
      core_.hurry(members_, m);
      core_.renew(m);
      core_.ripen(members_, m, m.bags.safe, [&](const entry& e) { free(m, e); });
      free_all(m);
    }
    m.owes = options_.bound.passed != nullptr || options_.bound.stalled != nullptr;
    m.unfinished = m.fleeting || m.owes;
  }
  measure_room(m);
}

// Its guard was just opened.
template <class Core>
void limbo_domain<Core>::step_or_close(member& m) {
  or_close(m, [&] {
    step(m);
    if (m.owes) tell_of_the_bound(m);
  });
}

// The thread has counted its guard, and the depth is 0 again: it opens as any does, maybe in another seat, and then the call
// is made that was owed.
template <class Core>
typename limbo_domain<Core>::member& limbo_domain<Core>::open_and_tell() {
  member& opened = open();
  or_close(opened, [&] { tell_of_the_bound(opened); });
  return opened;
}

// The thread's last guard was closed.
template <class Core>
void limbo_domain<Core>::finish(member& m) noexcept {
  if (std::exchange(m.owes, false)) m.depth = member::owing;
  m.unfinished = m.fleeting;
  if (m.fleeting) thread_slot::give_back();
}

// What f throws leaves no guard open.
template <class Core>
template <class F>
void limbo_domain<Core>::or_close(member& m, F&& f) {
  struct undo {
    limbo_domain& d;
    member* m;
    ~undo() {
      if (m != nullptr) d.close(*m);
    }
  } closing{*this, &m};
  f();
  closing.m = nullptr;
}

// Who is told may open guards and retire: the thread does not look at others then.
template <class Core>
void limbo_domain<Core>::tell_of_the_bound(member& m) {
  m.owes = false;
  m.unfinished = m.fleeting;
  const while_stepping once(m);
  if (options_.bound.passed != nullptr) options_.bound.passed(options_.bound.context, statistics());
  if (options_.bound.stalled != nullptr) tell_who_stalls();
}

template <class Core>
bool limbo_domain<Core>::over_bound(const member& m) const noexcept {
  return m.bags.weight() > options_.bound.bytes;
}

template <class Core>
void limbo_domain<Core>::measure_room(member& m) const noexcept {
  const std::uint64_t bound = options_.bound.bytes, weight = m.bags.weight();
  m.room = std::max(weight < bound ? bound - weight : 0, weight / 2);
}

// So many bytes were retired as there was room for; of those that were freed since then nothing is known.
template <class Core>
void limbo_domain<Core>::look_at_bound(member& m) {
  if (over_bound(m) && core_.over_bound(m)) step(m);
  measure_room(m);
}

// Who retires does not wait for another that looks.
template <class Core>
void limbo_domain<Core>::tell_who_stalls() {
  stall by;
  if (!stalls_lock_.try_lock(os::thread_mark())) return;
  by = oldest_obstacle();
  os::unlock(stalls_lock_);
  if (by) options_.bound.stalled(options_.bound.context, by);
}

template <class Core>
stall limbo_domain<Core>::in_full(const member& m, stall s) noexcept {
  s.inside = m.seat.inside();
  s.name = os::name_of_thread(s.thread);
  return s;
}

template <class Core>
stall limbo_domain<Core>::oldest_obstacle() {
  stall oldest;
  const member* who = nullptr;
  each_obstacle([&](const member& m, const stall& s) {
    if (who != nullptr && s.milliseconds <= oldest.milliseconds) return;
    oldest = s;
    who = &m;
  });
  return who == nullptr ? oldest : in_full(*who, oldest);
}

// What became safe since the last time goes the way of the drain.
template <class Core>
void limbo_domain<Core>::free_ripe(member& m) {
  const std::size_t before = m.bags.safe.size();
  const auto now = [&](const entry& e) { free(m, e); };
  if (options_.drain.at_once_from == drain_policy::never) {
    core_.ripen(members_, m, m.bags.safe, now);
  } else {
    bag<entry> ripe;
    core_.ripen(members_, m, ripe, now);
    ripe.sift(
        m.bags.stock, [&](const entry& e) { return e.weight() < options_.drain.at_once_from; },
        [&](const entry& e) { free(m, e); });
    m.bags.safe.splice(ripe);
  }
  if (m.bags.safe.size() == before) return;
  const auto label = std::uint32_t(core_.tag(m));
  os::timeline::mark(os::timeline::kind::unreclaimed, label, m.bags.waiting() + m.bags.safe.size());
  const os::timeline::span batch{os::timeline::kind::batch_free, label, m.bags.safe.size()};
  using way = drain_policy::way;
  switch (options_.drain.how) {
    case way::at_once: free_all(m); break;
    case way::pooled: pool_all(m); break;
    case way::to_allocator: free_batches(m); break;
    case way::background:
      if (!background_.hand_over(m.bags.safe)) free_all(m);
      break;
    case way::amortized:
    case way::adaptive:
    case way::catch_up: break;
  }
}

template <class Core>
void limbo_domain<Core>::drain_some(member& m) {
  const std::size_t before = m.bags.safe.size();
  os::timeline::span some{os::timeline::kind::single_free, std::uint32_t(core_.tag(m))};
  free_a_few(m);
  some.count(before - m.bags.safe.size());
}

template <class Core>
void limbo_domain<Core>::free_a_few(member& m) {
  using way = drain_policy::way;
  switch (options_.drain.how) {
    case way::adaptive: free_some(m, 1); break;
    case way::catch_up:
      if (m.bags.safe.size() > options_.drain.catch_up_above)
        free_some(m, m.bags.safe.size() - options_.drain.catch_up_above / 2);
      [[fallthrough]];
    case way::amortized: free_some(m, options_.drain.an_operation); break;
    default: free_all(m); break;
  }
}

template <class Core>
void limbo_domain<Core>::free(member& m, const entry& e) {
  m.bags.count.reclaimed(e.weight());
  ledger_.strike(e);
  const bool was = std::exchange(m.freeing, true);
  free_watch::see(options_.watch, 1, [&] { e.of->reclaim(e.object); });
  m.freeing = was;
}

// Two for one that was retired. Where a deleter retired it, whoever called that goes on with them: freed here they would
// nest, as deep as there are safe objects whose deleters retire.
template <class Core>
void limbo_domain<Core>::keep_pace(member& m) {
  constexpr std::size_t for_one = 2;
  if (m.freeing) m.owed += for_one;
  else free_some(m, for_one);
}

template <class Core>
void limbo_domain<Core>::free_some(member& m, std::size_t n) {
  for (m.owed = 0; n != 0 && !m.bags.safe.empty(); --n) {
    free(m, m.bags.safe.pop(m.bags.stock));
    n += std::exchange(m.owed, 0);
  }
  m.bags.safe.tidy(m.bags.stock);
}

template <class Core>
void limbo_domain<Core>::free_all(member& m) {
  for (unsigned n = 0; !m.bags.safe.empty(); ++n) {
    free(m, m.bags.safe.pop(m.bags.stock));
    core_.while_freeing(members_, m, n);
  }
  m.bags.safe.tidy(m.bags.stock);
}

// False: what its memory is only its deleter knows, and it is freed.
template <class Core>
bool limbo_domain<Core>::destroy(member& m, const entry& e) {
  if (!e.of->heap_block) {
    free(m, e);
    return false;
  }
  m.bags.count.reclaimed(e.weight());
  ledger_.strike(e);
  if (e.of->destroy != nullptr) e.of->destroy(e.object);
  return true;
}

template <class Core>
void limbo_domain<Core>::pool_all(member& m) {
  while (!m.bags.safe.empty()) {
    const entry e = m.bags.safe.pop(m.bags.stock);
    if (!destroy(m, e)) continue;
    if (!m.memory.give(*e.of, e.object)) free_watch::see(options_.watch, 1, [&] { ::operator delete(e.object); });
  }
  m.bags.safe.tidy(m.bags.stock);
}

template <class Core>
void limbo_domain<Core>::free_batches(member& m) {
  if (polder_free_batch == nullptr) return free_all(m);
  void* blocks[chunk<entry>::room];
  while (!m.bags.safe.empty()) {
    std::size_t n = 0;
    while (n != std::size(blocks) && !m.bags.safe.empty()) {
      const entry e = m.bags.safe.pop(m.bags.stock);
      if (destroy(m, e)) blocks[n++] = e.object;
    }
    if (n != 0) free_watch::see(options_.watch, n, [&] { polder_free_batch(blocks, n); });
  }
  m.bags.safe.tidy(m.bags.stock);
}

// There is no memory for the record of a retired object. What is safe, or can be made so, is freed, which empties chunks;
// whatever the drain, and not as free_all() does: whoever retires is in the middle of its guard, and holds what it reads on.
template <class Core>
void limbo_domain<Core>::make_room(member& m) {
  core_.press(members_);
  const std::size_t held = m.bags.waiting() + m.bags.safe.size();
  if (m.bags.safe.empty()) core_.ripen(members_, m, m.bags.safe, [&](const entry& e) { free(m, e); });
  free_some(m, m.bags.safe.size());
  if (m.bags.waiting() + m.bags.safe.size() == held)
    misused(Core::info.name,
            "out of memory: no room for the record of a retired object, and open guards forbid to free any");
}

// Takes over the bags of seats whose threads have ended. Not while a drain goes from seat to seat: it would miss what moves
// from a seat that it has not come to into one that it has been at. The drain sees to orphans itself.
template <class Core>
void limbo_domain<Core>::adopt_some(member& mine) {
  if (!drain_lock_.try_lock(os::thread_mark())) return;
  orphans_.look();
  for (member* m = members_.first(); m != nullptr; m = m->next) {
    if (m->gate.state() != seat_state::free || !m->gate.try_take()) continue;
    if (m->bags.empty()) {
    } else if (core_.adoptable(mine, m->bags.newest())) {
      mine.bags.adopt(m->bags, core_.tag(mine));
    } else {
      orphans_.left();
    }
    m->gate.end();
  }
  os::unlock(drain_lock_);
}

// Everybody's bags become the caller's. It is outside; nobody else collects, or adopts. Its guards look at others as any do, so
// who is told of the bound may throw out of them: no seat stays claimed then.
template <class Core>
void limbo_domain<Core>::collect() {
  member* const mine = &here();
  for (member* m = members_.first(); m != nullptr; m = m->next) {
    if (m == mine) continue;
    bool orphan = false;
    while (!(orphan = m->gate.try_take()) && !m->gate.try_claim()) sched_yield();
    struct ending {
      seat_gate& gate;
      ~ending() { gate.end(); }
    } const ends{m->gate};
    if (!orphan) {
      while (!core_.fences.heavy()) between_tries(core_.fences);
      while (m->seat.inside()) sched_yield();
    }
    for (bool taken = m->bags.empty(); !taken;) {
      member& inside = open();
      if (core_.adoptable(inside, m->bags.newest())) {
        inside.bags.adopt(m->bags, core_.tag(inside));
        taken = true;
      }
      close(inside);
      if (!taken) sched_yield();
    }
  }
}

// The calling thread has no guard open, and needs its seat no more.
template <class Core>
void limbo_domain<Core>::part(member& m) noexcept {
  if (m.is_inside()) return;  // a guard that was never closed, as by longjmp: what it protects stays
  members_.forget(m.number);
  m.seat.vacate();
  m.gate.disown();
  orphans_.left();
}

template <class Core>
void limbo_domain<Core>::thread_ended(thread_slot::number who) noexcept {
  if (member* const m = members_.find(who)) part(*m);
}

// A drain goes from guard to guard, and from first to last in one seat: what it has collected lies there.
template <class Core>
bool limbo_domain<Core>::needs(thread_slot::number who) const noexcept {
  const member* const m = members_.find(who);
  return m != nullptr && (m->is_inside() || drain_lock_.holder() == os::thread_mark());
}

template <class Core>
void limbo_domain<Core>::forked(thread_slot::number survivor) noexcept {
  // A deleter may fork: then the thread goes on with its drain, and with the seat that it is at.
  const bool drains = drain_lock_.holder() == os::thread_mark();
  drain_lock_.release_in_child(os::thread_mark());
  stalls_lock_.release_in_child(os::thread_mark());
  ledger_.after_fork();
  background_.after_fork();
  core_.after_fork();
  // Its number may have other seats, which it has left, and is not to lose this one with them.
  const member* const sits_in = members_.find(survivor);
  for (member* m = members_.first(); m != nullptr; m = m->next) {
    if (m == sits_in) {
      m->gate.keep_after_fork();
      m->thread.store(os::own_thread_number(), order::relaxed);
      continue;
    }
    m->seat.vacate();
    if (m->number != survivor) members_.forget(m->number);
    m->depth = 0;
    m->stepping = m->freeing = m->owes = m->unfinished = false;
    m->gate.abandon_after_fork(drains);
  }
  orphans_.left();
}

template <class Core>
unsigned limbo_domain<Core>::members_inside() const noexcept {
  unsigned n = 0;
  for (member* m = members_.first(); m != nullptr; m = m->next) n += m->seat.inside();
  return n;
}

template <class Core>
void limbo_domain<Core>::outside(std::string_view what) const {
  const member* const m = members_.find(thread_slot::held());
  if (m != nullptr && m->is_inside()) {
    if (what == "drain")
      misused(Core::info.name, "drain() inside a guard of the same domain would wait for itself");
    misused(Core::info.name, "synchronize() inside a guard of the same domain would wait for itself");
  }
}

}  // namespace polder::smr
