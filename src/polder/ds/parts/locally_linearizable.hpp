#pragma once
// locally_linearizable — a queue, stack or pool for each thread: puts go to one's own, gets look there first, then anywhere.
//
//   paper      Haas, Henzinger, Holzer, Kirsch, Lippautz, Payer, Sezgin, Sokolova and Veith, "Local linearizability for
//              concurrent container-type data structures", CONCUR 2016, sec. 6: LLD Φ, and LL+D Φ if emptiness is exact
//   progress   lock-free, as its backends are, but for the first put of a thread and its end
//   in malloc  no: put allocates
//
// It is locally linearizable: what a thread T puts all goes into one backend, which is linearizable; its history without the
// elements of other threads is T's history. That needs no more than that T's puts all go to the same backend. That others
// put there too, at the same time (static, with fewer backends than threads) or before (a later thread that got the number of
// one that ended, and finds its elements inside), takes nothing away: of a history of a queue, or a stack, what concerns
// some of the elements is one as well.
//
// Here the backends are the threads' own (parts/thread_backends.hpp); with a fixed number of them it is distributed over
// balancer::local. Sheet has backend, scan and info, as distributed's.
#include <optional>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/shape_names.hpp>
#include <polder/ds/parts/thread_backends.hpp>

namespace polder::ds {

template <class T, class R, class Memory, class Sheet>
class locally_linearizable : public collection<locally_linearizable<T, R, Memory, Sheet>, T, in_node<T>>,
                             public shape_names<Sheet::info.kind, locally_linearizable<T, R, Memory, Sheet>, T> {
 public:
  static constexpr collection_info info = Sheet::info;
  static_assert(info.empty == Sheet::scan::says);
  using kept = typename in_node<T>::kept;

  explicit locally_linearizable(typename R::domain& domain) noexcept : backends_(domain) {}
  locally_linearizable(const locally_linearizable&) = delete;
  locally_linearizable& operator=(const locally_linearizable&) = delete;

  // How many backends are looked into: for tests, when no thread is inside.
  unsigned listed() const noexcept { return backends_.listed(); }

 private:
  friend collection<locally_linearizable, T, in_node<T>>;

  bool insert(kept& e) {
    const smr::thread_slot::one_call of_this;
    return backends_.mine().insert(e);
  }
  std::optional<kept> remove() {
    const smr::thread_slot::one_call of_this;
    return backends_.template remove<typename Sheet::scan>();
  }

  thread_backends<typename Sheet::template backend<T, R, Memory>, typename R::domain> backends_;
};

}  // namespace polder::ds
