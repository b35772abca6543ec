#pragma once
// execute — the workload `set` over one structure of ds/, for each reclaimer that suits it.
#include <optional>

#include <polder/ds/suits.hpp>
#include <polder/smr/all.hpp>

#include "set/set_run.hpp"

namespace polder::bench {

// Ranges read too many nodes for single pointers to be protected.
template <class Structure>
constexpr bool has_ranges =
    requires(const Structure& s, std::uint64_t k) { s.range(k, k, [](std::uint64_t, std::uint64_t) {}); };

template <class Structure>
class without_ranges {
 public:
  explicit without_ranges(Structure& s) : of_(s) {}
  bool insert(std::uint64_t k, std::uint64_t v) { return of_.insert(k, v); }
  bool erase(std::uint64_t k) { return of_.erase(k); }
  bool contains(std::uint64_t k) const { return of_.contains(k); }
  std::size_t size_slow() const { return of_.size_slow(); }
  std::size_t key_sum_quiescent() const { return of_.key_sum_quiescent(); }
  void validate() const { of_.validate(); }

 private:
  Structure& of_;
};

template <class Structure, class R>
void execute_under(run& r, const set_job& job) {
  std::optional<freeing> watch;
  if (job.frees) watch.emplace(r.threads);
  typename R::domain domain(typename R::domain::options{.drain = job.drain, .watch = watch ? &*watch : nullptr});
  {
    auto make = [&] {
      if constexpr (std::constructible_from<Structure, typename R::domain&, std::size_t>)
        return Structure(domain, static_cast<std::size_t>(job.keys / 2 + 1));  // as the rivals are told
      else return Structure(domain);
    };
    Structure set = make();
    if constexpr (has_ranges<Structure> && R::info.protects != smr::protection::region) {
      without_ranges<Structure> points(set);
      set_run<without_ranges<Structure>, typename R::domain>(r, job, points, domain, watch ? &*watch : nullptr)();
    } else {
      set_run<Structure, typename R::domain>(r, job, set, domain, watch ? &*watch : nullptr)();
    }
  }
  domain.drain();
  const smr::garbage all = domain.statistics();
  r.setup().allocations += all.retired;  // finish() looks whether they balance
  r.setup().frees += all.reclaimed;
}

// Structure<R> under the reclaimer that the job names. Null, or why not.
template <template <class> class Structure>
const char* execute_structure(run& r, const set_job& job) {
  const char* why = "there is no such reclaimer";
  for_each(smr::all{}, [&]<class R> {
    if (R::info.name != job.reclaimer) return;
    if constexpr (!ds::suits<R>(Structure<R>::info)) {
      why = ds::unsuited<R>(Structure<R>::info).data();
    } else if (job.ranges != 0 && !has_ranges<Structure<R>>) {
      why = "this structure has no ranges: structure=abtree does";
    } else if (job.ranges != 0 && R::info.protects != smr::protection::region) {
      why = "this reclaimer protects single pointers, and a range reads more nodes than it has slots";
    } else {
      why = nullptr;
      execute_under<Structure<R>, R>(r, job);
    }
  });
  return why;
}

}  // namespace polder::bench
