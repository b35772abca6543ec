#pragma once
// make — a structure of ds/ for a job: under the reclaimer and in the memory that it names.
#include <concepts>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <polder/base/type_list.hpp>
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/suits.hpp>
#include <polder/smr/all.hpp>

#include "collection/preallocated.hpp"
#include "collection/table.hpp"

namespace polder::bench {

// Of each way to reclaim one: the product with all of them would take the compiler too long. `leaky` with preallocated memory
// is Scal's own mode.
using collection_reclaimers = type_list<smr::debra, smr::token, smr::hazard, smr::interval, smr::leaky>;

template <class C, class R>
constexpr bool is_sized =
    std::constructible_from<C, typename R::domain&, std::size_t> || std::constructible_from<C, std::size_t>;

template <class C, class R>
class ours final : public any_collection {
 public:
  explicit ours(const collection_job& job) : domain_(typename R::domain::options{.drain = job.drain}) {
    if (job.size == 0) {
      if constexpr (takes_domain) of_.emplace(domain_);
      else of_.emplace();
    } else if constexpr (is_sized<C, R>) {
      if constexpr (takes_domain) of_.emplace(domain_, job.size);
      else of_.emplace(job.size);
    }
  }
  bool put(std::uint64_t element) override { return of_->put(std::move(element)); }
  bool get(std::uint64_t& element) override {
    const std::optional<std::uint64_t> e = of_->get();
    if (!e) return false;
    element = *e;
    return true;
  }
  order_promise order() const override {
    constexpr ds::collection_info info = C::info;
    constexpr bool ordered = info.kind == ds::shape::queue || info.kind == ds::shape::stack;
    if constexpr (ordered && info.order == ds::semantics::linearizable) return {info.kind, 0};
    else if constexpr (ordered && info.order == ds::semantics::k_out_of_order) return {info.kind, of_->k()};
    else return {info.kind, std::nullopt};
  }
  smr::garbage close() override {
    of_.reset();
    domain_.drain();
    return domain_.statistics();
  }

 private:
  static constexpr bool takes_domain = std::constructible_from<C, typename R::domain&>;

  typename R::domain domain_;
  std::optional<C> of_;
};

template <class C, class R>
made_collection make_ours(const collection_job& job) {
  if (job.size != 0 && !is_sized<C, R>) return {nullptr, "this structure has no size, k or p: size=0"};
  try {
    return {std::make_unique<ours<C, R>>(job)};
  } catch (const std::invalid_argument& wrong) {
    static std::string words;
    words = wrong.what();
    return {nullptr, words.c_str()};
  }
}

// Of is a template of reclaimer and memory.
template <template <class, class> class Of>
made_collection make_collection(const collection_job& job) {
  constexpr ds::collection_info info = Of<smr::leaky, ds::heap_memory>::info;
  made_collection made{nullptr,
                       "workloads over queues and stacks have the reclaimers debra, token, hp, 2ge-ibr and leaky"};
  for_each(collection_reclaimers{}, [&]<class R> {
    if (R::info.name != job.reclaimer) return;
    if constexpr (!ds::suits<R>(info)) {
      made.why = ds::unsuited<R>(info).data();
    } else if (job.memory == "heap") {
      made = make_ours<Of<R, ds::heap_memory>, R>(job);
    } else if constexpr (std::same_as<R, smr::leaky>) {
      preallocate(job.elements * 256 + (std::size_t{64} << 20));
      made = make_ours<Of<R, preallocated>, R>(job);
    } else {
      made.why = "preallocated memory is never freed: reclaimer=leaky";
    }
  });
  made.most_putters = info.most_putters, made.most_getters = info.most_getters;
  made.waits = info.empty == ds::emptiness::waits;
  return made;
}

}  // namespace polder::bench
