// core: how much the heap may hold, and what it does where that is too little; in which modes it works.
#include <utility>

#include <polder/base/has_passed.hpp>
#include <polder/heap/polder/core.hpp>
#include <polder/os/cgroup.hpp>
#include <polder/os/clock.hpp>
#include <polder/os/futex.hpp>

namespace polder::heap {

bool core::set_limit(std::size_t bytes) noexcept {
  budget_.set_limit(bytes != 0 ? bytes : mem::budget::none);
  return budget_.is_short();
}

// Seven eighths of a container's limit: an eighth for what is not the heap's, code, stacks and files, of which the kernel takes
// back the files by itself. What is too little here costs time and what is too much the process, so it is not more.
static std::size_t share_of(std::size_t limit) {
  return limit == os::no_limit ? mem::budget::none : limit - limit / 8;
}

bool core::set_target(std::size_t bytes) noexcept {
  budget_.set_target(bytes != 0 ? bytes : share_of(cgroup_limit_));
  return budget_.is_short();
}

// After an attempt without success. False: nothing more can be done about it. Under a cap others may have given back what was wanted
// since the attempt; or it lies in an inbox that somebody empties who has been stopped: for that it stays some milliseconds, but not
// for good.
bool core::make_room(lab* own, std::size_t wanted, attempts& so_far) noexcept {
  constexpr unsigned most_tries = 16, most_naps = 8;
  const unsigned tries = so_far.made++;
  const bool was_capped = std::exchange(so_far.capped, budget_.is_limited());
  if (tries != 0 && !so_far.capped) return was_capped;  // then it has been lifted, perhaps since the attempt
  const bool refuses = budget_.refuses(wanted);
  if (tries != 0 && refuses && !budget_.ask(wanted)) {
    for (unsigned naps = 0; naps != most_naps && what_is_left_to_give().waiting != 0; ++naps) {
      os::sleep_for(1);
      trim(own);
      if (!budget_.refuses(wanted)) return true;
    }
    return false;
  }
  if (!refuses && tries >= most_tries) return false;
  if (tries == 0 || refuses) trim(own);  // who refused otherwise is the system, which a second trim does not move
  return true;
}

// Before so much is taken that the heap would be above its target: all that is free goes back, also what only a trim finds,
// in other threads' LABs. The pool and the cache of huge blocks see to themselves each time.
void core::relieve(lab& l, std::size_t wanted) noexcept {
  constexpr std::uint64_t pause = 20;  // milliseconds: a trim that finds nothing costs time
  if (!budget_.is_above_target(wanted)) [[likely]]
    return;
  const std::uint64_t now = os::coarse_milliseconds();
  std::uint64_t last = relieved_.load(order::relaxed);
  if (has_passed(pause, last, now) && relieved_.cas(last, now, order::relaxed, order::relaxed)) trim(&l);
}

modes core::read_modes() const noexcept {
  modes m{.membarrier = heavy_fences_, .page_size = options_.page_size};
  if (cgroup_limit_ != os::no_limit) m.cgroup_limit = cgroup_limit_;
  m.background_error = background_[0].refusal();
  m.background = !options_.background || options_.decay_ms == 0 ? background_mode::off
                 : m.background_error != 0                      ? background_mode::refused
                 : is_tended()                                  ? background_mode::runs
                                                                : background_mode::waits;
  switch (options_.thp) {
    case thp_policy::off: m.huge_pages = huge_page_mode::off; break;
    case thp_policy::madvise: m.huge_pages = huge_page_mode::system; break;
    case thp_policy::on: m.huge_pages = has_huge_pages_ ? huge_page_mode::on : huge_page_mode::refused; break;
    case thp_policy::large:
      m.huge_pages = !asks_for_huge_pages_ || budget_.is_narrow() ? huge_page_mode::off
                     : has_huge_pages_ && !arena_.no_huge_pages() ? huge_page_mode::large
                                                                  : huge_page_mode::refused;
      break;
  }
  return m;
}

}  // namespace polder::heap
