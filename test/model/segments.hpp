#pragma once
// segments — a list or a stack of k-segments in a model: elements that show when they were written, and a reclaimer of hazard
// pointers that frees at once: what is read then is a race.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include <polder/ds/parts/k_segment.hpp>

#include "explore.hpp"

namespace polder::model {

struct malloc_memory {
  static void* operator new(std::size_t bytes) { return std::malloc(bytes); }
  static void operator delete(void* p) noexcept { std::free(p); }
};

// frees, or keeps everything: shows what the structure itself orders, without the fences of who protects.
enum class kind { frees, keeps };

template <template <class, class, class> class Order, class Puts, unsigned Threads, kind Kind = kind::frees>
struct segments {
  // Hazard pointers, scanned at each retirement; memory goes back when the execution ends.
  struct scheme {
    // Written when the node is freed, read by who protects it.
    struct header {
      plain<int> alive{1};
      virtual ~header() = default;
    };
    template <unsigned>
    struct guard {
      segments& w;
      unsigned self;
      guard(segments& of, unsigned s) : w(of), self(s) {}
      ~guard() {
        if constexpr (Kind == kind::frees) w.held[self].store(nullptr, order::release);
      }
      template <class N>
      N* protect(unsigned, const atomic<N*>& word) {
        N* now = word.load(order::acquire);
        if constexpr (Kind == kind::keeps) return now;
        for (;;) {
          w.held[self].store(now, order::release);
          fence(order::seq_cst);
          N* const again = word.load(order::acquire);
          if (again == now) break;
          now = again;
        }
        POLDER_MODEL_CHECK(now->alive.get() == 1);
        return now;
      }
      template <class N, class... Arguments>
      N* make(Arguments&&... arguments) {
        N* const n = new N(std::forward<Arguments>(arguments)...);
        w.made[w.used.fetch_add(1, order::relaxed)] = n;
        return n;
      }
      void unmake(header* n) { n->alive.set(0); }
      void retire(header* n) {
        if constexpr (Kind == kind::keeps) return;
        for (header*& place : w.waiting[self]) {
          if (place == nullptr) {
            place = n;
            break;
          }
        }
        fence(order::seq_cst);
        for (header*& place : w.waiting[self]) {
          if (place != nullptr && !w.is_held(place)) std::exchange(place, nullptr)->alive.set(0);
        }
      }
    };
  };
  using guard = typename scheme::template guard<1>;
  using order_of = Order<scheme, malloc_memory, Puts>;
  static constexpr unsigned most = 24, each = 4;

  explicit segments(unsigned k_) : k(k_) {}
  ~segments() {
    delete of;
    for (unsigned i = 0; i != used.load(order::relaxed); ++i) delete made[i];
  }
  void begin() {
    guard g(*this, 0);
    of = new order_of(g, k);
  }
  bool is_held(const typename scheme::header* n) const {
    for (auto& h : held) {
      if (h.load(order::acquire) == n) return true;
    }
    return false;
  }

  void put(unsigned self, unsigned n) {
    written[self][n].set(int(n));
    guard g(*this, self);
    of->put(g, self * each + n, slot_owner(self), self << 31);
    ++inside[self][n];
  }
  // 0: nothing.
  unsigned take(unsigned self) {
    guard g(*this, self);
    const std::optional<std::uint64_t> e = of->get(g, self << 31);
    if (!e) return 0;
    const unsigned of_thread = unsigned(*e) / each, n = unsigned(*e) % each;
    POLDER_MODEL_CHECK(of_thread < Threads && written[of_thread][n].get() == int(n));
    ++out[of_thread][n];
    return n;
  }
  void must_take(unsigned self) { POLDER_MODEL_CHECK(take(self) != 0); }
  void comes_out() {
    while (take(0) != 0) {
    }
    for (unsigned t = 0; t != Threads; ++t) {
      for (unsigned n = 0; n != each; ++n) POLDER_MODEL_CHECK(out[t][n] == inside[t][n]);
    }
  }
  static ds::slot_state::owner_number slot_owner(unsigned self) {
    return Puts::own_segments ? ds::slot_state::owner_number(self + 1) : ds::slot_state::owner_number(0);
  }

  const unsigned k;
  order_of* of = nullptr;
  plain<int> written[Threads][each];
  int inside[Threads][each] = {}, out[Threads][each] = {};
  atomic<const typename scheme::header*> held[Threads];
  typename scheme::header* waiting[Threads][most] = {};
  typename scheme::header* made[most] = {};
  atomic<unsigned> used{0};
};

}  // namespace polder::model
