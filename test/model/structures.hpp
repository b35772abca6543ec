#pragma once
// structures — what models of structures hold and who reclaims: a key that shows whether it was freed, and two reclaimers.
#include <cstdlib>
#include <new>
#include <utility>

#include <polder/sync/atomic.hpp>

#include "explore.hpp"

namespace polder::model {

// As smr/reclaimer.hpp has it, which models do not include.
enum class protection { region, pointer };
struct protects_what {
  protection protects;
};

// A key whose reads and writes are checked for races. Its end writes it, so freeing races with who still reads.
struct key {
  plain<int> number;
  explicit key(int n) : number(n) {}
  key(const key& other) noexcept : number(other.value()) {}
  key& operator=(const key& other) noexcept {
    number.set(other.value());
    return *this;
  }
  ~key() { number.set(-1); }
  int value() const noexcept {
    const int n = number.get();
    POLDER_MODEL_CHECK(n > 0);  // not freed
    return n;
  }
  friend bool operator<(const key& a, const key& b) { return a.value() < b.value(); }
};
struct none {};

// What a slot keeps when it protects a pointer; words with marks bring an overload of their own.
inline const void* address_of(const void* p) { return p; }

// A reclaimer with a guard a thread at a time. What is freed is destroyed where it stands, so that whoever still reads it is
// told; its room is used again by the next execution.
template <protection Protects, unsigned Threads, unsigned Slots, unsigned Nodes>
struct reclaimer {
  static constexpr protects_what info{Protects};
  struct header {};

  class domain {
   public:
    domain() = default;
    domain(const domain&) = delete;
    domain& operator=(const domain&) = delete;
    ~domain() {
      for (unsigned i = 0; i != used_.load(order::relaxed); ++i) {
        if (made_[i].destroy != nullptr) made_[i].destroy(made_[i].at);
        std::free(made_[i].at);
      }
    }

   private:
    friend reclaimer;
    struct room {
      void* at = nullptr;
      void (*destroy)(void*) = nullptr;  // null: it has been
    };
    void free(const void* p) {
      for (room& r : made_) {
        if (r.at == p) return std::exchange(r.destroy, nullptr)(r.at);
      }
    }
    bool is_held(const void* p) const {
      for (const auto& thread : held_) {
        for (const auto& slot : thread) {
          if (slot.load(order::acquire) == p) return true;
        }
      }
      return false;
    }
    atomic<const void*> held_[Threads + 1][Slots];
    const void* waiting_[Threads + 1][Nodes] = {};
    room made_[Nodes];
    atomic<unsigned> used_;
  };

  template <unsigned N>
  class guard {
   public:
    explicit guard(domain& d) : domain_(d) {}
    ~guard() {
      if constexpr (Protects == protection::pointer) {
        for (unsigned i = 0; i != N; ++i) clear(i);
        sweep();
      }
    }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

    template <class W>
    W protect(unsigned slot, const atomic<W>& word) {
      W now = word.load(order::acquire);
      if constexpr (Protects == protection::pointer) {
        for (;;) {
          hold(slot, address_of(now));
          const W again = word.load(order::acquire);
          if (again == now) break;
          now = again;
        }
      }
      return now;
    }
    void hold(unsigned slot, const void* p) {
      static_assert(N <= Slots);
      if constexpr (Protects == protection::pointer) {
        domain_.held_[self_][slot].store(p, order::release);
        fence(order::seq_cst);
      }
    }
    void clear(unsigned slot) { domain_.held_[self_][slot].store(nullptr, order::release); }

    template <class T, class... Arguments>
    T* make(Arguments&&... arguments) {
      const unsigned i = domain_.used_.fetch_add(1, order::relaxed);
      POLDER_MODEL_CHECK(i < Nodes);
      void* const at = std::aligned_alloc(alignof(T), sizeof(T));
      T* const made = new (at) T(std::forward<Arguments>(arguments)...);
      domain_.made_[i] = {at, [](void* p) { static_cast<T*>(p)->~T(); }};
      return made;
    }
    void unmake(const void* node) { domain_.free(node); }
    void retire(const void* node) {
      if constexpr (Protects == protection::pointer) {
        for (const void*& place : domain_.waiting_[self_]) {
          if (place == nullptr) {
            place = node;
            break;
          }
        }
        sweep();
      }
    }

   private:
    void sweep() {
      fence(order::seq_cst);
      for (const void*& place : domain_.waiting_[self_]) {
        if (place != nullptr && !domain_.is_held(place)) domain_.free(std::exchange(place, nullptr));
      }
    }

    domain& domain_;
    const unsigned self_ = unsigned(rl::ctx().current_thread() + 1);  // 0: before and after the threads
  };
};

// Keeps everything: shows what the links alone order.
template <unsigned Threads, unsigned Slots, unsigned Nodes>
using keeping = reclaimer<protection::region, Threads, Slots, Nodes>;
// Hazard pointers, scanned at each retirement and when a guard has closed.
template <unsigned Threads, unsigned Slots, unsigned Nodes>
using hazards = reclaimer<protection::pointer, Threads, Slots, Nodes>;

}  // namespace polder::model
