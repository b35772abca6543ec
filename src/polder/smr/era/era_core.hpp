#pragma once
// era_core — what hazard eras and interval-based reclamation share: the clock, what is known of an object's life, and
// looks that keep what lived while somebody may have read it.
//
// Core has each_span(members, f): f(from, to) for all eras that are published. A slot publishes a span of one era.
#include <algorithm>
#include <cstdint>

#include <polder/smr/drain.hpp>
#include <polder/smr/era/era_clock.hpp>
#include <polder/smr/fences.hpp>
#include <polder/smr/kind.hpp>
#include <polder/smr/presence.hpp>
#include <polder/smr/published.hpp>
#include <polder/smr/sieve.hpp>

namespace polder::smr {

// An object knows when it was made. One that make() did not make says that nobody knows.
struct era_header {
  era born = no_era;

  // Of an object that takes another's value the birth stays its own: with a later one it would be freed under its readers.
  constexpr era_header() noexcept = default;
  constexpr era_header(const era_header&) noexcept {}
  constexpr era_header& operator=(const era_header&) noexcept { return *this; }
};

struct era_record : retired_object {
  lifetime life;
  static era_record note(void* object, const kind& k, const era_header* header) noexcept {
    return {{object, &k}, {.born = header != nullptr ? header->born : no_era}};
  }
};

struct era_options {
  // How many objects a thread retires before it looks at what others publish.
  unsigned retires_a_look = 128;
  // How many objects a thread makes before it begins a new era. Fewer: less garbage, more readers that publish anew; 0: as 1.
  unsigned births_an_era = 128;
  fences::choice fencing = fences::choice::as_the_kernel_allows;
};

template <class Core>
class era_core : public sifted<Core, era_record> {
 public:
  static constexpr drain_policy usual_drain{};
  using options = era_options;

  struct span {
    era from, to;
  };

  struct turn {
    explicit turn(const Core& core) noexcept : until_tick(core.births_an_era()) {}
    unsigned until_tick;  // births
    era looked = no_era;  // the clock when this thread looked last
    published<span> seen;
  };

  explicit era_core(const options& chosen) noexcept : fences(chosen.fencing), options_(chosen) {}

  template <class Member>
  void born(Member& m, era_header& object) noexcept {
    object.born = clock.now();
    if (--m.turn.until_tick != 0) return;
    m.turn.until_tick = births_an_era();
    clock.tick();
  }

  // At least one, since it is counted down from.
  unsigned births_an_era() const noexcept { return std::max(options_.births_an_era, 1u); }

  std::size_t least() const noexcept { return options_.retires_a_look; }

  template <class Members>
  bool look(const Members& members, turn& t) noexcept {
    if (!fences.heavy()) return false;
    t.looked = clock.now();
    // The caller's own guard is in this era, and so keeps what is stamped with it; the guard of the next look is not.
    clock.tick();
    t.seen.begin();
    self().each_span(members, [&](era from, era to) { t.seen.add({from, to}); });
    t.seen.end([](const span& a, const span& b) { return a.from < b.from; });
    t.seen.merge([](span& a, const span& b) {
      if (b.from > a.to) return false;
      a.to = std::max(a.to, b.to);
      return true;
    });
    return true;
  }

  // An object that no look has seen yet is stamped with the clock of this one: it was unlinked before.
  template <class Members>
  bool keeps(const Members& members, const turn& t, era_record& r) const noexcept {
    if (r.life.retired == no_era) r.life.retired = t.looked;
    const lifetime life = r.life;
    if (t.seen.whole()) {
      // Spans are apart from each other: of those that end late enough, the first decides.
      const span* const first = std::partition_point(t.seen.begin_item(), t.seen.end_item(),
                                                     [&](const span& s) { return s.to < life.born; });
      return first != t.seen.end_item() && first->from <= life.retired;
    }
    bool found = false;
    self().each_span(members,
                     [&](era from, era to) { found = found || (life.born <= to && from <= life.retired); });
    return found;
  }

  template <class Members>
  void synchronize(const Members& members) noexcept {
    wait_for_guards(members, fences);
  }

  smr::fences fences;
  era_clock clock;

 private:
  const Core& self() const noexcept { return *static_cast<const Core*>(this); }

  const options options_;
};

}  // namespace polder::smr
