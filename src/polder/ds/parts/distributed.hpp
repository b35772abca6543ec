#pragma once
// distributed — p backends and a balancer that says which of them a put or a get is for.
//
//   paper      Haas, Henzinger, Kirsch, Lippautz, Payer, Sezgin and Sokolova, "Distributed queues in shared memory:
//              multicore performance and scalability through quantitative relaxation", CF 2013
//   progress   lock-free, as its backends are
//   in malloc  no: put allocates
//
//     put ──▶ balancer.put_at ──▶ one backend
//     get ──▶ balancer.get_at ──▶ one backend ──empty──▶ all, from balancer.scan_at around (Scan) ──▶ nothing
//
// Invariant: the elements are those of the backends; each went through one of them, once. So whatever the balancer does,
// this is a pool; what else it is, its sheet says:
//
//   template <class T, class R, class Memory> using backend
//   using balancer
//   using scan                             exact_scan or single_scan
//   static constexpr collection_info info
#include <cstddef>
#include <optional>
#include <string_view>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/backends.hpp>
#include <polder/ds/parts/balancer/usual_backends.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/shape_names.hpp>

namespace polder::ds {

template <class T, class R, class Memory, class Sheet>
class distributed : public collection<distributed<T, R, Memory, Sheet>, T, in_node<T>>,
                    public shape_names<Sheet::info.kind, distributed<T, R, Memory, Sheet>, T> {
 public:
  static constexpr collection_info info = Sheet::info;
  static_assert(info.empty == Sheet::scan::says);
  using kept = typename in_node<T>::kept;

  // p: how many backends. Throws std::invalid_argument if it is 0, and std::bad_alloc.
  explicit distributed(typename R::domain& domain, std::size_t p = balancer::usual_backends())
      : backends_(p, domain), balancer_(p) {}
  distributed(const distributed&) = delete;
  distributed& operator=(const distributed&) = delete;

  std::size_t p() const noexcept { return backends_.size(); }

 private:
  friend collection<distributed, T, in_node<T>>;

  bool insert(kept& e) { return backends_[balancer_.put_at(backends_)].insert(e); }

  std::optional<kept> remove() {
    const std::size_t chosen = balancer_.get_at(backends_);
    if (std::optional<kept> e = backends_[chosen].remove()) return e;
    return backends_.template remove<typename Sheet::scan>(balancer_.scan_at(backends_, chosen));
  }

  backends<typename Sheet::template backend<T, R, Memory>> backends_;
  typename Sheet::balancer balancer_;
};

// What info.parameters says of those.
inline constexpr std::string_view of_p_backends = "p: how many backends; twice the processors";

}  // namespace polder::ds
