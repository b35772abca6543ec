// core: memory on its way back to the system.
#include <utility>

#include <polder/base/has_passed.hpp>
#include <polder/heap/polder/core.hpp>
#include <polder/os/clock.hpp>
#include <polder/os/ended_thread.hpp>
#include <polder/os/futex.hpp>
#include <polder/os/probe.hpp>

namespace polder::heap {

// Less is not worth a thread.
constexpr mem::grain worth_tending = 16 * MiB / mem::grain_size;

// Whoever takes memory, gives it back or sends blocks home may be the last that comes by for long. A process of one thread gets
// no other: it could no longer do what the kernel forbids to several, such as unshare(CLONE_NEWUSER). Nor does the child of a vfork
// start one, whose threads end with it.
void core::have_it_tended() noexcept {
  const tending::state seen = tending_.ask();
  if (seen == tending::state::asked) [[likely]]
    return;
  if (seen == tending::state::coming && is_tended()) return;
  if (!options_.background || options_.decay_ms == 0 || threads_.load(order::relaxed) < 2) return;
  const mem::grain_pool::counts now = grains_.count();
  if (now.taken + now.dirty < worth_tending && huge_.cached_bytes() == 0) return;
  if (background_[0].refusal() != 0 || os::own_process_number() != process_.load(order::relaxed)) return;
  if (!tending_.call(seen)) return;
  for (os::background_thread& one : background_) {
    if (one.start([](void* self) { static_cast<core*>(self)->tend(); }, this)) return;
    if (one.refusal() != 0) break;
  }
  tending_.nobody_comes();
}

// What lies in a LAB whose owner is inside is counted too: it may sleep before anybody looks again.
core::givable core::what_is_left_to_give() const noexcept {
  const mem::grain_pool::counts c = grains_.count();
  givable all{.taken = c.taken, .dirty = c.dirty, .cached = huge_.cached_bytes()};
  for (mem::lab_number n = 1; n <= labs_made(); ++n) {
    const lab& l = lab_at(n);
    if (!may_hold_something(l) && !may_be_thinned(l)) continue;
    ++all.labs;
    all.waiting += l.in_bytes.load(order::relaxed);
  }
  return all;
}

// The background thread's. It ends when all has been given, or when for some time nobody has done anything and nothing more could
// be given: what is locked in memory cannot.
void core::tend() noexcept {
  constexpr unsigned in_vain = 8;
  if (!tending_.come()) return;
  givable before;
  for (unsigned idle = 0;;) {
    const bool unfinished = amid_a_step();
    os::sleep_for(unfinished ? 5 : options_.decay_ms / 2 + 1 + os::coarse_tick_milliseconds);
    if (!os::background_thread::shares_rights()) return tending_.leave_at_once();
    const bool at_work = tending_.look();
    decay(who::tends);
    const bool thinned = thin_idle();
    const givable now = what_is_left_to_give();
    const bool moved = now != std::exchange(before, now) || unfinished || thinned || at_work;
    idle = moved ? 0 : idle + 1;
    if (idle == in_vain && shut_doors()) idle = 0;
    const bool over = now.is_nothing() || idle >= in_vain;
    if (over && tending_.leave()) return;
  }
}

// One step every half decay time, taken by whichever thread comes first: grains that were free at the step before go
// back, cached mappings too, and the LABs of threads that have not been seen for two steps are swept, or given to others where
// the thread has ended. A step is cut into pieces so that no malloc pays for a large heap's at once.
void core::decay(who comes) noexcept {
  constexpr std::size_t least = 32 * MiB;
  constexpr std::uint32_t a_look = 1, a_sweep = 16, a_piece = 128 * a_sweep;  // what they cost, about
  const std::uint64_t now = os::coarse_milliseconds();
  std::uint64_t last = last_decay_.load(order::relaxed);
  const bool unfinished = amid_a_step();
  const std::uint64_t period = unfinished ? 4 : options_.decay_ms / 2 + 1;
  if (!has_passed(period, last, now)) return;
  if (!last_decay_.cas(last, now, order::relaxed, order::relaxed)) return;
  if (last == 0) return;  // the first look at the clock
  if (comes == who::at_work) have_it_tended();
  std::uint32_t step = step_.load(order::relaxed);
  if (!unfinished) {
    step_.store(++step, order::relaxed);
    for (os::background_thread& one : background_) one.try_again();
    thins_.store(may_thin(), order::relaxed);
  }

  mem::chunk_number from = purge_from_.load(order::relaxed);
  if (from != 0 || !unfinished) {
    // A sixteenth of what lies dirty, so that a step ends within its time however large the heap.
    const std::size_t share = grains_.count().dirty * mem::grain_size / 16;
    const std::size_t piece = share > least ? share : least;
    std::size_t gone = grains_.purge({.lazily = options_.release == release_policy::free, .budget = piece}, from);
    purge_from_.store(from, order::relaxed);
    if (from == 0) grains_.release_extra_chunks(mem::grain_pool::which::aged);
    if (!unfinished) gone += huge_.purge(false);
    os::probe::decay_step(gone);
  }

  std::uint32_t n = sweep_from_.load(order::relaxed);
  if (n == 0 && unfinished) return;
  const std::uint32_t made = labs_made();
  for (std::uint32_t spent = 0; n < made && spent < a_piece;) {
    lab& l = lab_at(++n);
    if (sweep_left(l)) spent += a_sweep;
    if (!l.door.owner_is_outside() || step - l.seen.load(order::relaxed) < 2) continue;
    const bool due = may_hold_something(l) || is_orphaned(l);
    spent += due && sweep_idle(l) ? a_sweep : a_look;
  }
  sweep_from_.store(n < made ? n : 0, order::relaxed);
}

std::size_t core::trim(lab* own) noexcept {
  std::size_t bytes = 0;
  if (own) {
    sweep(*own, left::dirty);
    bytes += thin_all(*own);
  }
  for (mem::lab_number n = 1; n <= labs_made(); ++n)
    if (lab& l = lab_at(n); &l != own) bytes += strip(l);
  mem::chunk_number from = 0;
  bytes += grains_.purge({.what = mem::grain_pool::which::all, .lazily = options_.release == release_policy::free},
                         from);
  grains_.release_extra_chunks(mem::grain_pool::which::all);
  bytes += huge_.purge(true);
  os::probe::trim(bytes);
  return bytes;
}

}  // namespace polder::heap
