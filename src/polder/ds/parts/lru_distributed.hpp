#pragma once
// lru_distributed — p backends; put and get each take the least recently used.
//
//   paper      Haas, Henzinger, Kirsch, Lippautz, Payer, Sezgin and Sokolova, CF 2013, sec. 3 (LRU DQ)
//   progress   lock-free
//   in malloc  no: put allocates
//   deviation  64-bit counts where there are 16 or 8 bits of a pointer's tag (parts/balancer/least_recently_used.hpp)
//
// P(i), D(i): how many puts and gets backend i has had. By the rounds' invariant any two P differ by one at most, and so do
// any two D, at every moment: each operation is one step, on a backend whose count is the least.
//
// Emptiness is exact, though backends that had their get of the round are not looked into. Let j be one that is found
// without an element in round r: P(j) = D(j) = r. Any i that had its get has D(i) = r + 1 <= P(i) <= P(j) + 1 = r + 1: it is
// empty too. So at a moment when all that wait for their get are empty and there is one, all are empty; exact_scan finds
// such a moment: which backends had their get in a round only grows, and so do the puts of the others.
//
// Backend has  bool insert_after(uint64_t puts, kept&)                                        false: it has had more
//              turn remove_after(uint64_t gets, std::optional<kept>&, uint64_t& puts)         passed: the same
#include <cstddef>
#include <cstdint>
#include <optional>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/backends.hpp>
#include <polder/ds/parts/balancer/least_recently_used.hpp>
#include <polder/ds/parts/balancer/usual_backends.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/place.hpp>
#include <polder/ds/parts/random_draw.hpp>
#include <polder/ds/parts/shape_names.hpp>

namespace polder::ds {

template <class T, class R, class Memory, class Sheet>
class lru_distributed : public collection<lru_distributed<T, R, Memory, Sheet>, T, in_node<T>>,
                        public shape_names<Sheet::info.kind, lru_distributed<T, R, Memory, Sheet>, T> {
 public:
  static constexpr collection_info info = Sheet::info;
  using kept = typename in_node<T>::kept;

  // p: how many backends. Throws std::invalid_argument if it is 0, and std::bad_alloc.
  explicit lru_distributed(typename R::domain& domain, std::size_t p = balancer::usual_backends())
      : backends_(p, domain) {}
  lru_distributed(const lru_distributed&) = delete;
  lru_distributed& operator=(const lru_distributed&) = delete;

  std::size_t p() const noexcept { return backends_.size(); }
  std::size_t k() const noexcept { return Sheet::k(p()); }

 private:
  friend collection<lru_distributed, T, in_node<T>>;

  bool insert(kept& e) {
    for (;;) {
      const std::uint64_t round = puts_.round();
      const std::size_t first = random_draw(p());
      std::size_t i = first;
      do {
        if (backends_[i].insert_after(round, e)) return true;
        i = i + 1 == p() ? 0 : i + 1;
      } while (i != first);
      puts_.leave(round);
    }
  }

  std::optional<kept> remove() {
    return exact_scan::over([&](tally& seen) -> std::optional<kept> {
      for (;;) {
        const std::uint64_t round = gets_.round();
        const std::size_t first = random_draw(p());
        std::size_t i = first, passed = 0;
        std::uint64_t puts = 0;
        do {
          std::optional<kept> e;
          std::uint64_t its = 0;
          switch (backends_[i].remove_after(round, e, its)) {
            case turn::taken: return e;
            case turn::passed: ++passed; break;
            case turn::empty: puts += its; break;
          }
          i = i + 1 == p() ? 0 : i + 1;
        } while (i != first);
        if (passed != p()) {
          seen = {round * (p() + 1) + passed, puts};
          return std::nullopt;
        }
        gets_.leave(round);
      }
    });
  }

  backends<typename Sheet::template backend<T, R, Memory>> backends_;
  balancer::least_recently_used puts_, gets_;
};

}  // namespace polder::ds
