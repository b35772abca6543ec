#include "checker/structures.hpp"

#include <polder/ds/all.hpp>
#include <polder/smr/all.hpp>

#include "checker/sided.hpp"

namespace polder::checker {
namespace {

// Infos that say so have limits of who may put and get at once.
template <class Info>
unsigned most_putters(const Info& i) {
  if constexpr (requires { i.most_putters; }) return i.most_putters;
  else return 0;
}
template <class Info>
unsigned most_getters(const Info& i) {
  if constexpr (requires { i.most_getters; }) return i.most_getters;
  else return 0;
}

template <class C, class R>
history sided(std::uint64_t seed) {
  ticks clock;
  if constexpr (std::constructible_from<C, typename R::domain&>) {
    ds::collection_suite::drained<R> domain;
    C of(domain);
    return play_sides(of, clock, seed);
  } else {
    C of;
    return play_sides(of, clock, seed);
  }
}

template <class R>
std::vector<structure> over() {
  std::vector<structure> found;
  for_each(ds::collections<std::uint64_t, R, ds::heap_memory>{}, [&]<class C> {
    structure s{std::string(C::info.name), C::info, ds::collection_suite::make<C, R>};
    s.most_putters = most_putters(C::info), s.most_getters = most_getters(C::info);
    if constexpr (has_sides<C>) s.sided = sided<C, R>;
    found.push_back(s);
  });
  return found;
}

}  // namespace

// Over one reclaimer: the structures' own tests ask them over many.
const std::vector<structure>& structures() {
  static const std::vector<structure> all = over<smr::debra>();
  return all;
}

}  // namespace polder::checker
